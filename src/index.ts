export { createService, type Service } from './service.ts'
export type { OpenServiceOptions, ServiceOptions } from './options.ts'
export type { InProcess, ServiceCollection } from './in-process.ts'
export {
  ServiceError,
  errorStatuses,
  isServiceError,
  type ServiceErrorCode,
  type ServiceErrorOptions,
} from './errors.ts'
export type { Observation, Place, RejectionReason, Report } from './observation.ts'
export type { EventTrace, RequestTrace, SecurityTrace, StorageTrace } from './tracing.ts'
export type { RequestLog } from './watch.ts'

export {
  defineCollection,
  type CollectionBehaviour,
  type CollectionData,
  type CollectionDefinition,
} from './definition/collection.ts'
export { withCode, type ApplicationsCode, type CollectionCode } from './definition/with-code.ts'
export type { ApplicationDefinition, ApplicationDefinitions } from './definition/application.ts'
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
  type Bounds,
  type DecimalOptions,
  type DoubleOptions,
  type Field,
  type FieldOptions,
  type FieldOptionsByType,
  type FieldTypeName,
  type FieldValues,
  type Fields,
  type IntegerOptions,
  type TextOptions,
  type TimeOptions,
  type UuidOptions,
} from './definition/field.ts'
export type {
  CollectionShape,
  Conditions,
  Draft,
  InsertValues,
  Item,
  Key,
  KeyName,
  LooseItem,
  UpdateValues,
  ValueOf,
} from './definition/item.ts'
export {
  error,
  information,
  warning,
  type RuleOptions,
  type StandardResult,
  type StandardSchema,
  type ValidatedEvent,
  type Validation,
  type ValidationContext,
  type RuleResult,
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
  Handlers,
  ItemPage,
  PublishedEventName,
  CollectionLookup,
  SaveOptions,
  SaveResult,
  System,
} from './definition/handler.ts'
export type { EventRoles, RowRule, RowRuleData, RowValue } from './definition/rights.ts'
export { definitionJsonSchema, readApplications } from './definition/json-schema.ts'
export type { JsonSchema } from './definition/schema.ts'
export {
  anonymous,
  principal,
  system,
  type Attributes,
  type Principal,
} from './definition/principal.ts'
export {
  publishCollection,
  type PublishOptions,
  type PublishedCollection,
  type PublishedField,
} from './definition/published.ts'
export { itemValue, type FieldType, type StoredValue } from './definition/field-type.ts'
export type { CheckConstraints } from './definition/constraints.ts'

export type { Envelope, Severity, ValidationEntry } from './protocol/envelope.ts'
export type { Json } from './protocol/json.ts'
export type {
  Credentials,
  RequestHandler,
  ServiceReply,
  ServiceRequest,
} from './request/request.ts'

export type { MaybePromise } from './maybe-promise.ts'
export {
  StorageError,
  isStorageError,
  searchText,
  unfitError,
  type Condition,
  type Row,
  type SortField,
  type StorageAbilities,
  type StorageAdapter,
  type StorageErrorKind,
  type StoragePage,
  type StorageQuery,
  type StorageReader,
  type StorageTextPage,
  type StorageTransaction,
  type TransactionOptions,
  type UnfitValue,
} from './storage/adapter.ts'
export { memoryStorage } from './storage/memory.ts'
export { mount } from './storage/mount.ts'

export { securityApplications } from './security/collections.ts'
export type {
  KeyEvent,
  KeyLookup,
  KeyRecord,
  KeyRequest,
  Keyring,
  NewKey,
  Rotation,
} from './security/keys/key-store.ts'
export type { Limiter, Limits } from './security/limiter.ts'
export { openAccess } from './security/provider.ts'
export type {
  AuthenticationType,
  Credential,
  KeyProvider,
  OpenAccess,
  PasswordProvider,
  Rejected,
  SecurityContext,
  SecurityProvider,
} from './security/provider.ts'
export type {
  Account,
  FindUser,
  NewUser,
  User,
  UserChanges,
  UserLookup,
  Users,
} from './security/users/user-store.ts'
