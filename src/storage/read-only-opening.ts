import type { PublishedCollection } from '../definition/published.ts'

/** Says that a storage adapter is opened for a command that only reads. */
export interface ReadOnlyOpening {
  /** Called for each collection whose table does not exist and would be created. It is not read then. */
  missing(collection: PublishedCollection): void
}
