import type { ApplicationDefinitions } from '../definition/application.ts'
import { defineCollection } from '../definition/collection.ts'
import { instant, integer, text } from '../definition/field.ts'
import { publishCollection, type PublishedCollection } from '../definition/published.ts'
import { hasHomes, homeOf } from '../storage/homes.ts'

/** The internal application of the stored collection. It is not published. */
const application = 'rowgate-idempotency'

const keys = defineCollection({
  key: 'id',
  table: 'rowgate_idempotency_keys',
  description: 'Requests with the header Idempotency-Key, and their responses.',
  index: [['expires', 'id'], ['owner']],
  fields: {
    id: text({ description: 'The digest of the caller and the key.' }),
    owner: text({ required: true, description: 'The digest of the caller.' }),
    request: text({ required: true, description: 'The digest of the request.' }),
    view: text({ required: true, description: 'The digest of what the caller could read.' }),
    state: text({
      required: true,
      enumeration: ['running', 'done', 'unknown'],
      description: 'unknown: the request may have had its effect, and has no response.',
    }),
    status: integer({ description: 'The status of the response.' }),
    headers: text({ description: 'The headers of the response, as JSON.' }),
    body: text({ description: 'The body of the response; null if it was too large.' }),
    seal: text({ description: 'A digest of the response, which shows that it was changed.' }),
    created: instant({ required: true }),
    ends: instant({ required: true, description: 'The latest end of a request that is running.' }),
    expires: instant({ required: true }),
  },
})

/**
 * The table of idempotency keys, for applications that create their tables themselves:
 * `sqliteSchema({ ...applications, ...idempotencyTables })`.
 */
export const idempotencyTables: ApplicationDefinitions = Object.freeze({
  [application]: Object.freeze({ collections: Object.freeze({ keys }) }),
})

/** The tables of the keys of a service. */
export interface KeyTables {
  readonly all: readonly PublishedCollection[]
  /** Returns the table in the storage of a collection. */
  for(collection: PublishedCollection): PublishedCollection
}

/**
 * Returns the tables of keys: one in each storage that has collections of applications with keys, so that a key and what
 * its request writes are committed together. Functions that serve a collection have no storage; their keys are in the first.
 */
export function keyTables(adapter: object, collections: readonly PublishedCollection[]): KeyTables {
  const tables = new Map<unknown, PublishedCollection>()
  const stored = collections.filter(({ serve }) => serve === undefined)
  for (const collection of stored.length === 0 ? collections.slice(0, 1) : stored) {
    const home = homeOf(adapter, collection)
    if (tables.has(home)) continue
    // An adapter of several storages finds the place of a collection by its names.
    const names = hasHomes(adapter) ? collection : { application, name: 'keys' }
    tables.set(home, publishCollection(names.application, names.name, keys))
  }
  const all = [...tables.values()]
  return {
    all,
    for: (collection) => {
      const table =
        collection.serve === undefined ? tables.get(homeOf(adapter, collection)) : all[0]
      if (table === undefined) throw new Error('There is no table of idempotency keys.')
      return table
    },
  }
}
