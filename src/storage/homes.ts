import type { PublishedCollection } from '../definition/published.ts'

/** The member of an adapter of several storages by which {@link homeOf} finds that of a collection. */
export const homeLookup: unique symbol = Symbol.for('rowgate.homeLookup')

/** An adapter of several storages. */
export interface WithHomes {
  readonly [homeLookup]: (collection: PublishedCollection) => unknown
}

/** Returns whether an adapter has several storages. */
export function hasHomes(adapter: object): adapter is WithHomes {
  return homeLookup in adapter
}

/**
 * Returns what identifies the storage of a collection in an adapter, also before it is opened: the same value for
 * collections whose writes are committed together. Undefined for an adapter of one storage.
 */
export function homeOf(adapter: object, collection: PublishedCollection): unknown {
  return hasHomes(adapter) ? adapter[homeLookup](collection) : undefined
}
