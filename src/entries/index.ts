export { createService, type Service } from '../service.ts'
export type { ServiceStatistics } from '../service-part.ts'
export { AuthenticationError, type Authenticate } from '../authenticate.ts'
export type {
  FastifyMessage,
  FetchMessage,
  NodeMessage,
  OwnRequest,
  OwnRequestOptions,
} from '../http/own-request.ts'
export type { OpenServiceOptions, ServiceOptions } from '../options.ts'
export type { BuildLoad, ConnectionLoad, DeliveryLoad, Workload } from '../workload.ts'
export type { CacheOptions, CacheStatistics } from '../cache/response-cache.ts'
export type {
  InProcess,
  InProcessOptions,
  InTransactionOptions,
  ServiceCollection,
  WithinTransaction,
} from '../in-process.ts'
export {
  ServiceError,
  errorStatuses,
  isServiceError,
  type ServiceErrorCode,
  type ServiceErrorOptions,
} from '../errors.ts'
export type { EventPlace, Observation, Report } from '../observation/reports.ts'
export type { RequestTrace, Traces } from '../observation/channels.ts'
export type { RequestLog } from '../observation/request-log.ts'

export {
  defineCollection,
  type CollectionBehaviour,
  type CollectionData,
  type CollectionDefinition,
  type ConcurrencyData,
  type ReferenceData,
  type UnmanagedData,
} from '../definition/collection.ts'
export { computed, type ComputedField } from '../definition/computed.ts'
export type { OperatorName, OperatorsData } from '../definition/operators.ts'
export type {
  ExpandData,
  ExpandsData,
  RelationName,
  WithRelated,
} from '../definition/related-items.ts'
export { withBehaviour } from '../definition/with-behaviour.ts'
export { withCode, type ApplicationsCode, type CollectionCode } from '../definition/with-code.ts'
export type {
  ApplicationDefinition,
  ApplicationDefinitions,
  IdempotencyKeys,
} from '../definition/application.ts'
export { idempotencyTables } from '../idempotency/collections.ts'
/** The field types, for files in which `text` or `date` would shadow a variable: `field.text()`. */
export * as field from '../definition/field.ts'
/** The validation rules, for files in which `error` would shadow a variable: `rule.error()`. */
export * as rule from '../definition/validation.ts'
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
  time,
  uuid,
  type Field,
  type Fields,
} from '../definition/field.ts'
export type {
  Conditions,
  Operators,
  RowConditions,
  TextOperators,
  Through,
} from '../definition/conditions.ts'
export type {
  CollectionShape,
  Draft,
  InsertValues,
  Item,
  Key,
  UpdateValues,
  ValueOf,
} from '../definition/item.ts'
export {
  error,
  information,
  warning,
  type Validation,
  type ValidationContext,
} from '../definition/validation.ts'
export type {
  AfterFilter,
  AfterSave,
  BeforeDelete,
  BeforeFilter,
  BeforeInsert,
  BeforeSave,
  BeforeUpdate,
  CollectionAccess,
  ExpandOption,
  CollectionLookup,
  Committed,
  EventName,
  FilterOptions,
  Find,
  GetOptions,
  HandlerContext,
  ItemPage,
  OneOfManyEntry,
  PublishedEventName,
  SaveManyResult,
  SaveOptions,
  SaveResult,
  System,
} from '../definition/handler.ts'
export type {
  Handlers,
  PrepareContext,
  PrepareDelete,
  PrepareInsert,
  PrepareSave,
  PrepareUpdate,
  Preparation,
} from '../definition/handlers.ts'
export { decrement, increment, type Increment } from '../definition/increment.ts'
export type { CustomEvent, CustomResult } from '../definition/user-defined-event.ts'
export type { EventRoles, OwnValue, RowRule, RowRuleData } from '../definition/rights.ts'
export { readApplications } from '../definition/check.ts'
export type {
  DeleteCall,
  FilterCall,
  GetCall,
  InsertCall,
  NewItem,
  Serve,
  ServedPage,
  ServingContext,
  UpdateCall,
  WritingContext,
} from '../definition/serve.ts'
export { anonymous, principal, system, type Principal } from '../definition/principal.ts'

export type { MessageName } from '../messages/english.ts'
export type { Messages, Texts } from '../messages/languages.ts'
export type { LocalizedText, MessageText } from '../messages/message.ts'
export type { Envelope, ValidationEntry } from '../protocol/envelope.ts'
export { JsonNumber } from '../protocol/json-number.ts'
export { parseJson, stringifyJson } from '../protocol/json-text.ts'
export type { Json } from '../protocol/json.ts'
export type { Page } from '../pages/page.ts'
export type { RequestHandler, ServiceReply, ServiceRequest } from '../request/request.ts'

export { memoryStorage } from '../storage/memory/memory.ts'
export { mount } from '../storage/mount/mount.ts'

export { openAccess } from '../security/provider.ts'
