export type { Authentication, Secret } from './connection/authentication.ts'
export type { CallOptions, EndpointMethod, EndpointRequest, EndpointResponse } from './call.ts'
export { CallError, callErrorCodes, isCallError } from './call-error.ts'
export type { CallErrorCode, CallErrorOptions } from './call-error.ts'
export type { ClientCredentialsOptions } from './connection/client-credentials.ts'
export { connection } from './connection/connection.ts'
export type { Connection, ReadStream } from './connection/connection.ts'
export type { ConnectionOptions } from './connection/connection-options.ts'
export { endpoint, readStream } from './endpoint.ts'
export type { Endpoint, EndpointInput } from './endpoint.ts'
export type { EndpointOptions } from './endpoint-options.ts'
export type {
  Parameter,
  ParameterOptions,
  Parameters,
  ParameterType,
  ValueOf,
} from './parameters.ts'
export type { Fetch } from './connection/node-fetch.ts'
export type { LargeNumbers } from './connection/json-text.ts'
export type { PathParameterNames } from './path-template.ts'
export { ignoredBody, jsonSchema, sample, typed } from './schema.ts'
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
} from './schema.ts'
export { outboxTables } from './outbox/collections.ts'
export type { Delivery, DeliveryDetails, DeliveryState } from './outbox/delivery.ts'
export type {
  FunctionCall,
  FunctionDeliveredContext,
  OutboxFunction,
} from './outbox/deliver-function.ts'
export type { ListOptions } from './outbox/administration.ts'
export type { RetryFilter } from './outbox/retry-deliveries.ts'
export type { Worker } from '../work/worker-pool.ts'
export { createOutbox, type EnqueueOptions, type Outbox } from './outbox/outbox.ts'
export { deliverTo } from './outbox/options.ts'
export type { DeadContext, DeliveredContext, DeliveryContext } from './outbox/delivery-context.ts'
export type { DeliveryHandlers, OutboxEndpoint, OutboxOptions } from './outbox/options.ts'
export { flatten, type FlattenOptions } from './tables/flatten.ts'
export { flattenElements, readElements, type ElementOptions } from './tables/read-elements.ts'
export { readTables, type AncestorRow, type ResponseReader } from './tables/read-tables.ts'
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
} from './tables/response-types.ts'
export type { AnyColumns, Cell, ResponseTable, ResponseTables, TableRow } from './tables/table.ts'
export { TablesError, type TablesErrorCode } from './tables/tables-error.ts'
export { unflatten } from './tables/unflatten.ts'
export { prepareCall, type CallPreparation, type PrepareCallOptions } from './prepare-call.ts'
export { nextLink, parseLinks } from './paging/link-header.ts'
export type { Link } from './paging/link-header.ts'
export { pages } from './paging/pages.ts'
export type { ItemOf, Page, PagesOptions } from './paging/pages.ts'
export type { Paging, PagingEnd } from './paging/paging-options.ts'
export {
  applyRules,
  type ActingUser,
  type ApplyOptions,
  type TargetCollections,
} from './rules/apply-rules.ts'
export type { Caller, CallerTypes } from './rules/caller.ts'
export { rule, type Rule, type RuleEndpoint, type RuleOptions } from './rules/rule.ts'
export { RuleError, type RuleErrorOptions } from './rules/rule-error.ts'
export type { CallerRow, RuleRow, RuleSource, RuleSources } from './rules/source.ts'
export type { RuleResult } from './rules/write-items.ts'
export { MatchError, type Match } from './send/match-rows.ts'
export { nest, type ChildRows, type NestedSources } from './send/nest.ts'
export { send, type SendOptions } from './send/send.ts'
export {
  sendTogether,
  type FailureOfAll,
  type MatchedOptions,
  type SuccessOfAll,
  type UnmatchedOptions,
} from './send/send-together.ts'
export type { Failure, SendResult, StoreOptions, Success } from './send/store-parts.ts'
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
} from './rest-collection/options.ts'
export { restCollection } from './rest-collection/rest-collection.ts'
export { rowgateCollection } from './rest-collection/rowgate-collection.ts'
export type { RowgateCollectionOptions } from './rest-collection/rowgate-collection.ts'
