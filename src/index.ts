export { createService, type Service, type ServiceStatistics } from './service.ts'
export type { OpenServiceOptions, ServiceOptions } from './options.ts'
export type { CacheOptions, CacheStatistics } from './cache/response-cache.ts'
export type { InProcess, ServiceCollection, WithinTransaction } from './in-process.ts'
export { ServiceError, errorStatuses, isServiceError, type ServiceErrorCode } from './errors.ts'
export type { Observation, Report } from './observation/reports.ts'
export type { RequestTrace, Traces } from './observation/channels.ts'
export type { RequestLog } from './observation/request-log.ts'

export {
  defineCollection,
  type CollectionBehaviour,
  type CollectionData,
  type CollectionDefinition,
} from './definition/collection.ts'
export { computed } from './definition/computed.ts'
export { withBehaviour } from './definition/with-behaviour.ts'
export { withCode, type ApplicationsCode, type CollectionCode } from './definition/with-code.ts'
export type { ApplicationDefinition, ApplicationDefinitions } from './definition/application.ts'
/** The field types, for files in which `text` or `date` would shadow a variable: `field.text()`. */
export * as field from './definition/field.ts'
/** The validation rules, for files in which `error` would shadow a variable: `rule.error()`. */
export * as rule from './definition/validation.ts'
export {
  bigint,
  boolean,
  date,
  dateTime,
  decimal,
  double,
  instant,
  integer,
  json,
  text,
  uuid,
  type Field,
  type FieldTypeName,
  type Fields,
} from './definition/field.ts'
export type { Conditions } from './definition/conditions.ts'
export type {
  CollectionShape,
  Draft,
  InsertValues,
  Item,
  Key,
  UpdateValues,
  ValueOf,
} from './definition/item.ts'
export {
  error,
  information,
  warning,
  type Validation,
  type ValidationContext,
} from './definition/validation.ts'
export type {
  AfterFilter,
  AfterSave,
  BeforeDelete,
  BeforeFilter,
  BeforeInsert,
  BeforeSave,
  BeforeUpdate,
  CollectionAccess,
  Committed,
  CustomEvent,
  CustomResult,
  EventName,
  FilterOptions,
  Find,
  HandlerContext,
  ItemPage,
  PublishedEventName,
  SaveOptions,
  SaveResult,
  System,
} from './definition/handler.ts'
export type {
  Handlers,
  PrepareContext,
  PrepareDelete,
  PrepareInsert,
  PrepareSave,
  PrepareUpdate,
} from './definition/handlers.ts'
export type { EventRoles, RowRule, RowRuleData } from './definition/rights.ts'
export { definitionJsonSchema, readApplications } from './definition/check.ts'
export type {
  DeleteCall,
  FilterCall,
  GetCall,
  InsertCall,
  NewItem,
  Serve,
  ServedPage,
  UpdateCall,
} from './definition/serve.ts'
export type { JsonSchema } from './definition/schema.ts'
export {
  anonymous,
  principal,
  system,
  type Attributes,
  type Principal,
} from './definition/principal.ts'

export type { Envelope, ValidationEntry } from './protocol/envelope.ts'
export type { Json } from './protocol/json.ts'
export type { Page } from './pages/page.ts'
export type { RequestHandler, ServiceReply, ServiceRequest } from './request/request.ts'

export { StorageError } from './storage/adapter.ts'
export { memoryStorage } from './storage/memory.ts'
export { mount } from './storage/mount.ts'

export { openAccess } from './security/provider.ts'
