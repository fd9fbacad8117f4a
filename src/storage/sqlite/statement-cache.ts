import { keepLatest } from '../../keep-latest.ts'
import type { Prepared, SqliteValue } from './connection.ts'
import type { Inputs, Slot } from '../sql.ts'
import type { StatementText } from './statements.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { SortField } from '../adapter.ts'

interface Entry {
  readonly run: Prepared<unknown>
  readonly slots: readonly Slot[]
}

/** The prepared statements of one connection by shape. */
export interface StatementCache {
  /** Runs the statement of a shape. Writes and prepares it if it is not cached. */
  run<Result>(
    shape: string,
    write: () => StatementText,
    prepare: (sql: string) => Prepared<Result>,
    inputs: Inputs,
  ): Result
}

// Clients choose fields and sort orders, so the number of shapes is otherwise unbounded.
const minCapacity = 256
// A page, its count, an item and a save.
const statementsPerCollection = 4

/** Returns how many statements are cached for a number of collections, so that all of them can be in use. */
export function statementCapacity(collections: number): number {
  return Math.max(minCapacity, collections * statementsPerCollection)
}

/** Creates a cache that evicts the least recently used statement. The capacity may grow. */
export function statementCache(capacity: () => number): StatementCache {
  // In order of use, the most recent one last.
  const entries = new Map<string, Entry>()
  let latest: string | undefined

  function find(
    shape: string,
    write: () => StatementText,
    prepare: (sql: string) => Prepared<unknown>,
  ): Entry {
    let found = entries.get(shape)
    if (found !== undefined && shape === latest) return found
    if (found === undefined) {
      const { sql, slots } = write()
      found = { run: prepare(sql), slots }
    }
    keepLatest(entries, shape, found, capacity())
    latest = shape
    return found
  }

  return {
    run<Result>(
      shape: string,
      write: () => StatementText,
      prepare: (sql: string) => Prepared<Result>,
      inputs: Inputs,
    ): Result {
      const { run, slots } = find(shape, write, prepare)
      const parameters: SqliteValue[] = []
      for (const slot of slots) parameters.push(slot.read(inputs))
      return run(parameters) as Result
    },
  }
}

const identities = new WeakMap<PublishedCollection, number>()
const lists = new WeakMap<readonly string[], string>()
let collections = 0
let numbered = 0

/** Returns a unique number for a collection object. */
export function identityOf(collection: PublishedCollection): number {
  const known = identities.get(collection)
  if (known !== undefined) return known
  identities.set(collection, ++collections)
  return collections
}

/** Returns a sort order as a string. */
export function sortShape(sort: readonly SortField[]): string {
  let shape = ''
  for (const { field, descending } of sort) shape += `${field}\0${descending ? '>' : '<'}\0`
  return shape
}

/** Returns a list of names as a string. For a frozen list it is short. */
export function listShape(names: readonly string[]): string {
  if (!Object.isFrozen(names)) return names.join('\0')
  const known = lists.get(names)
  if (known !== undefined) return known
  const shape = `\0${++numbered}`
  lists.set(names, shape)
  return shape
}
