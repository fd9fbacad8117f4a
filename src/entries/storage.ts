export type { Concurrency } from '../definition/concurrency.ts'
export type { PublishedField } from '../definition/published-field.ts'
export { publishApplications } from '../definition/publish-applications.ts'
export {
  publishCollection,
  type IncomingReference,
  type PublishOptions,
  type PublishedCollection,
  type Reference,
} from '../definition/published.ts'
export type { IndexField } from '../definition/relations.ts'
export type { FieldType, StoredValue } from '../definition/field-type.ts'
export type { CheckValue } from '../definition/constraints.ts'
export type { MaybePromise } from '../maybe-promise.ts'
export type { StorageAdvice, StorageWarning } from '../observation/reports.ts'
export {
  StorageError,
  isStorageError,
  searchText,
  unfitError,
  type Condition,
  type ReadContext,
  type Row,
  type SortField,
  type StorageAbilities,
  type StorageAdapter,
  type StorageErrorKind,
  type StoragePage,
  type StorageQuery,
  type StorageReader,
  type RelatedQuery,
  type RelatedTextPage,
  type StorageTextPage,
  type StorageTransaction,
  type TransactionOptions,
  type UnfitValue,
} from '../storage/adapter.ts'
export type { InspectionProgress, StorageProblem } from '../storage/problem.ts'
export type { ReadOnlyOpening } from '../storage/read-only-opening.ts'
