import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../../definition/published.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import { hasPath } from '../../request/item-path.ts'
import { equal, oneItem, type Row } from '../../request/query.ts'
import { isStorageError, type StorageAdapter, type StorageReader } from '../adapter.ts'
import { inspectCollections, reasonOf } from './inspect-collections.ts'
import {
  correctThem,
  duplicateProblem,
  missingProblem,
  referenceProblem,
  unfitProblem,
  unreachableProblem,
  unreadProblem,
  type InspectionProgress,
  type StorageProblem,
} from '../problem.ts'

/** Returns the problems of an adapter, or of all rows that an open adapter without `inspect` returns. */
export async function inspectStorage(
  adapter: StorageAdapter,
  collections: readonly PublishedCollection[],
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  if (adapter.inspect !== undefined) return adapter.inspect(collections, progress)
  return inspectCollections(collections, {
    rows: (collection, add) =>
      attempt(async () => add(await inspectRows(adapter, collection, progress))),
    references: (reference, add) =>
      attempt(async () => add(await inspectReference(adapter, adapter, reference))),
  })
}

// Any error may concern only this collection, for example if its report takes too long.
async function attempt(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

/** Returns the problems of an adapter. If it can't be inspected, that is a problem of each collection. */
export async function inspectReadable(
  adapter: StorageAdapter,
  collections: readonly PublishedCollection[],
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  try {
    return await inspectStorage(adapter, collections, progress)
  } catch (error) {
    return collections.map((collection) => unreadProblem(collection, reasonOf(error)))
  }
}

/** Returns the problem about items of one storage that refer to missing items of another one, or the same. */
export async function inspectReference(
  storage: StorageReader,
  target: StorageReader,
  reference: Reference,
): Promise<readonly StorageProblem[]> {
  const { from, fields, to } = reference
  const known = new Map<string, boolean>()
  const missing = noneFound()
  await readRows(storage, from, {
    async row(row) {
      const values = fields.map(({ name }) => row[name] ?? null)
      if (values.includes(null)) return
      const key = JSON.stringify(values)
      let exists = known.get(key)
      if (exists === undefined) known.set(key, (exists = await isStored(target, to, values)))
      if (!exists) addFound(missing, () => exampleOf(from, row, fields))
    },
    unfit: () => undefined,
  })
  return missing.count === 0 ? [] : [referenceProblem(reference, missing)]
}

/**
 * Reads at most one row of one collection. Rejects with the error of storage, except for a row that does not fit its
 * definition.
 */
export async function requireReadable(
  storage: StorageReader,
  collections: readonly PublishedCollection[],
): Promise<void> {
  // A collection without a key may be a view, where each read takes long.
  const collection = collections.find(({ key }) => key.length > 0) ?? collections[0]
  if (collection === undefined) return
  try {
    await storage.filter(collection, oneItem([], collection.allNames.slice(0, 1)))
  } catch (error) {
    if (!isStorageError(error) || error.kind !== 'unfit') throw error
  }
}

/** The number of items with a problem, and the first of them. */
interface Found {
  count: number
  readonly examples: string[]
}

function noneFound(): Found {
  return { count: 0, examples: [] }
}

function addFound(found: Found, example: () => string): void {
  found.count++
  if (found.examples.length < maxExamples) found.examples.push(example())
}

async function inspectRows(
  adapter: StorageReader,
  collection: PublishedCollection,
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  const groups = [collection.key, ...collection.uniques]
    .filter((fields) => fields.length > 0)
    .map((fields) => ({ fields, items: new Map<string, number>() }))
  const unfit = new Map<string, Found>()
  const required = collection.fields
    .filter((field) => field.required && !field.inKey)
    .map((field) => ({ field, missing: noneFound() }))
  const unreachable = noneFound()
  const total = await readRows(adapter, collection, {
    progress,
    row(row) {
      for (const { field, missing } of required) {
        if (row[field.name] === null) addFound(missing, () => exampleOf(collection, row, [field]))
      }
      if (isUnreachable(collection, row))
        addFound(unreachable, () => exampleOf(collection, row, []))
      for (const { fields, items } of groups) {
        const values = fields.map(({ name }) => row[name] ?? null)
        if (values.includes(null)) continue
        const key = JSON.stringify(values)
        items.set(key, (items.get(key) ?? 0) + 1)
      }
    },
    unfit(names, message) {
      for (const name of names) {
        const found = unfit.get(name) ?? noneFound()
        unfit.set(name, found)
        addFound(found, () => message)
      }
    },
  })
  const misfits = Array.from(unfit, ([name, { count, examples }]) => {
    const field = collection.byName.get(name) as PublishedField
    return unfitProblem(collection, field, { count, examples, total, advice: correctThem })
  })
  const missing = required
    .filter(({ missing: { count } }) => count > 0)
    .map(({ field, missing: found }) => missingProblem(collection, field, { ...found, total }))
  const paths =
    unreachable.count === 0 ? [] : [unreachableProblem(collection, { ...unreachable, total })]
  const duplicates = groups.flatMap(({ fields, items }) => {
    const repeated = Array.from(items).filter(([, count]) => count > 1)
    if (repeated.length === 0) return []
    const count = repeated.reduce((sum, [, items]) => sum + items - 1, 0)
    const examples = repeated
      .slice(0, maxExamples)
      .map(([key, items]) => `${key.slice(1, -1)}: ${items} items`)
    return [duplicateProblem(collection, fields, { count, examples })]
  })
  return [...misfits, ...missing, ...paths, ...duplicates]
}

interface RowVisitor {
  readonly progress?: InspectionProgress
  /** Called for an item, without its values that do not fit. */
  row(row: Row): void | Promise<void>
  /** Called for an item with values that do not fit, with their fields and the message of the adapter. */
  unfit(names: readonly string[], message: string): void
}

const noNames: readonly string[] = []
const rowsAtOnce = 500
const maxExamples = 3

/** Reads all rows, and returns their number. If a page has a value that does not fit, its rows are read one by one. */
async function readRows(
  storage: StorageReader,
  collection: PublishedCollection,
  visitor: RowVisitor,
): Promise<number> {
  const read = (offset: number, limit: number, { count = false, without = noNames } = {}) =>
    storage.filter(collection, {
      conditions: [],
      search: null,
      sort: collection.tieBreakers.map(({ name }) => ({ field: name, descending: false })),
      limit,
      offset,
      select: collection.allNames.filter((name) => !without.includes(name)),
      count,
    })
  // The values of a row may be compared with their fields in several steps, each with an error of its own.
  const visitOne = async (offset: number, without: readonly string[]): Promise<number> => {
    try {
      const { rows } = await read(offset, 1, { without })
      for (const row of rows) await visitor.row(row)
      return rows.length
    } catch (error) {
      const more = unfitFields(error).filter((name) => !without.includes(name))
      if (more.length === 0) throw error
      visitor.unfit(more, (error as Error).message)
      return visitOne(offset, [...without, ...more])
    }
  }
  const visit = async (offset: number, limit: number): Promise<number> => {
    if (limit === 1) return visitOne(offset, noNames)
    let rows: readonly Row[]
    try {
      rows = (await read(offset, limit)).rows
    } catch (error) {
      if (unfitFields(error).length === 0) throw error
      const half = Math.floor(limit / 2)
      const first = await visit(offset, half)
      return first < half ? first : first + (await visit(offset + half, limit - half))
    }
    for (const row of rows) await visitor.row(row)
    return rows.length
  }
  const total = (await read(0, 0, { count: true })).count ?? 0
  let done = 0
  for (let found = rowsAtOnce; found === rowsAtOnce;) {
    found = await visit(done, rowsAtOnce)
    done += found
    visitor.progress?.(collection, done, Math.max(done, total))
  }
  return done
}

function unfitFields(error: unknown): readonly string[] {
  return isStorageError(error) && error.kind === 'unfit' ? error.fields : noNames
}

function isUnreachable(collection: PublishedCollection, row: Row): boolean {
  const parts = collection.key.map(({ name }) => row[name] ?? null)
  return !parts.includes(null) && !hasPath(collection, parts)
}

async function isStored(
  storage: StorageReader,
  collection: PublishedCollection,
  key: readonly StoredValue[],
): Promise<boolean> {
  const { rows } = await storage.filter(collection, {
    conditions: collection.key.map(({ name }, index) => equal(name, key[index] ?? null)),
    search: null,
    sort: [],
    limit: 1,
    offset: 0,
    select: collection.key.map(({ name }) => name),
    count: false,
  })
  return rows.length > 0
}

function exampleOf(
  collection: PublishedCollection,
  row: Row,
  fields: readonly PublishedField[],
): string {
  const texts = (own: readonly PublishedField[]): string =>
    own.map(({ name }) => JSON.stringify(row[name] ?? null).slice(0, 60)).join(', ')
  return [texts(collection.key), texts(fields)].filter((text) => text !== '').join(': ')
}
