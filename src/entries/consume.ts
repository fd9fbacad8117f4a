export { file } from '../consume/body/file.ts'
export type { FileContent, FileOptions, FilePart, FileStream } from '../consume/body/file.ts'
export type { FormStyle } from '../consume/body/form.ts'
export type { CompleteEncoding } from '../consume/body/multipart.ts'
export type { BodyEncoding, MemberEncoding } from '../consume/body/request-body.ts'
export type { Authentication } from '../consume/connection/authentication.ts'
export type { Secret } from '../consume/connection/secret.ts'
export type {
  BodyStream,
  CallOptions,
  EndpointMethod,
  EndpointRequest,
  EndpointResponse,
  RequestBody,
  ResponseFormat,
} from '../consume/call.ts'
export { CallError, callErrorCodes, isCallError } from '../consume/call-error.ts'
export type { CallErrorCode, CallErrorOptions } from '../consume/call-error.ts'
export type { ClientCredentialsOptions } from '../consume/connection/client-credentials.ts'
export { connection } from '../consume/connection/connection.ts'
export type { Connection, ReadStream } from '../consume/connection/connection.ts'
export type { ConnectionOptions } from '../consume/connection/connection-options.ts'
export { endpoint, readStream } from '../consume/endpoint.ts'
export type { Endpoint, EndpointInput, ResponseBody } from '../consume/endpoint.ts'
export type { EndpointOptions } from '../consume/endpoint-options.ts'
export type {
  Parameter,
  ParameterOptions,
  Parameters,
  ParameterType,
  ValueOf,
} from '../consume/parameters.ts'
export type { Fetch } from '../consume/connection/node-fetch.ts'
export type { LargeNumbers } from '../consume/connection/json-text.ts'
export type { PathParameterNames } from '../consume/path-template.ts'
export { ignoredBody, jsonSchema, jsonSchemas, sample, typed } from '../consume/schema.ts'
export type {
  IgnoredBodySchema,
  InputOf,
  JsonSchemaSchema,
  OutputOf,
  SampleSchema,
  Schema,
  SchemaIssue,
  SchemaResult,
  Widened,
} from '../consume/schema.ts'
export { outboxTables } from '../consume/outbox/collections.ts'
export type { Delivery, DeliveryDetails, DeliveryState } from '../consume/outbox/delivery.ts'
export type {
  FunctionCall,
  FunctionDeliveredContext,
  OutboxFunction,
} from '../consume/outbox/deliver-function.ts'
export type { ListOptions } from '../consume/outbox/administration.ts'
export type { RetryFilter } from '../consume/outbox/retry-deliveries.ts'
export type { Worker } from '../work/worker-pool.ts'
export { createOutbox, type EnqueueOptions, type Outbox } from '../consume/outbox/outbox.ts'
export { deliverTo } from '../consume/outbox/options.ts'
export type {
  DeadContext,
  DeliveredContext,
  DeliveryContext,
} from '../consume/outbox/delivery-context.ts'
export type { DeliveryHandlers, OutboxEndpoint, OutboxOptions } from '../consume/outbox/options.ts'
export { describeTables } from '../consume/tables/describe-tables.ts'
export type { ColumnDescription, TableDescription } from '../consume/tables/table-description.ts'
export { flatten, type FlattenOptions } from '../consume/tables/flatten.ts'
export {
  flattenElements,
  readElements,
  type ElementOptions,
} from '../consume/tables/read-elements.ts'
export { readTables, type AncestorRow, type ResponseReader } from '../consume/tables/read-tables.ts'
export type {
  AncestorPath,
  ColumnsAt,
  ColumnsOf,
  DescendantPath,
  ParentPath,
  ResponseShape,
  RootElement,
  ShapeOf,
  TablePath,
  TableShape,
} from '../consume/tables/response-types.ts'
export type {
  AnyColumns,
  Cell,
  ResponseTable,
  ResponseTables,
  TableRow,
} from '../consume/tables/table.ts'
export { readAs, type PlacePath, type ReadOf, type ReadOptions } from '../consume/tables/read-as.ts'
export { TablesError, type TablesErrorCode } from '../consume/tables/tables-error.ts'
export { unflatten } from '../consume/tables/unflatten.ts'
export {
  prepareCall,
  type CallPreparation,
  type PrepareCallOptions,
} from '../consume/prepare-call.ts'
export { nextLink, parseLinks } from '../consume/paging/link-header.ts'
export type { Link } from '../consume/paging/link-header.ts'
export { pages } from '../consume/paging/pages.ts'
export type { ItemOf, Page, PagesOptions } from '../consume/paging/pages.ts'
export type { Paging, PagingEnd } from '../consume/paging/paging-options.ts'
export { applyRules, type ApplyOptions } from '../consume/rules/apply-rules.ts'
export type { ActingUser, TargetCollections } from '../consume/store-response.ts'
export type { CallerReader, CallerTypes } from '../consume/rules/caller-reader.ts'
export {
  rule,
  type Reading,
  type Rule,
  type RuleEndpoint,
  type RuleOptions,
} from '../consume/rules/rule.ts'
export { RuleError, type RuleErrorOptions } from '../consume/rules/rule-error.ts'
export type { CompleteJoin } from '../consume/rules/rule-parts.ts'
export type {
  CallerRow,
  JoinedColumns,
  RuleJoin,
  RuleRow,
  RuleSource,
  RuleSources,
} from '../consume/rules/source.ts'
export type { RuleResult } from '../consume/rules/write-items.ts'
export { MatchError, type Match } from '../consume/send/match-rows.ts'
export { nest, type ChildRows, type NestedSources } from '../consume/send/nest.ts'
export { send, type SendOptions } from '../consume/send/send.ts'
export {
  sendTogether,
  type FailureOfAll,
  type MatchedOptions,
  type SuccessOfAll,
  type UnmatchedOptions,
} from '../consume/send/send-together.ts'
export type { Failure, SendResult, StoreOptions, Success } from '../consume/send/send-request.ts'
export type {
  FieldMapping,
  FilterMapping,
  InputMembers,
  ItemMapping,
  ListMapping,
  Rejection,
  RestCollectionOptions,
  SaveMapping,
  SortEntry,
  SortMapping,
  TotalMapping,
} from '../consume/rest-collection/options.ts'
export { restCollection } from '../consume/rest-collection/rest-collection.ts'
export { rowgateCollection } from '../consume/rest-collection/rowgate-collection.ts'
export type { RowgateCollectionOptions } from '../consume/rest-collection/rowgate-collection.ts'
