import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { meetsAll, type MeetsThrough } from '../../request/meets.ts'
import type { Condition, Row, StorageQuery } from '../../request/query.ts'
import { StorageError, type StorageTransaction } from '../adapter.ts'
import { rowAt, type TableView } from './table.ts'

/** A collection that shares its table with other collections. Rows of the table are stored by column name. */
export interface SharedTable {
  /** Represents the table: its fields are the columns of all collections that share it. */
  readonly table: PublishedCollection
  queryOf(query: StorageQuery): StorageQuery
  conditionsOf(conditions: readonly Condition[]): readonly Condition[]
  /** Returns the row with a key of the collection. */
  rowWithKey(view: TableView, key: readonly Row[string][]): Row | undefined
  /** Returns the columns of a row or of changes. Throws an `invalid` StorageError for a new row without key. */
  columnsOf(row: Row, isNew: boolean): Row
  /** Returns the fields of a stored row. */
  rowOf(columns: Row): Row
  /** Returns the same error, with field names in place of column names. */
  errorOf(error: unknown): unknown
}

/**
 * Returns the shared table of each collection that has one. Names of tables and columns are compared
 * in lower case. Throws a TypeError if the keys or columns of the collections disagree.
 */
export function sharedTables(
  collections: readonly PublishedCollection[],
): ReadonlyMap<PublishedCollection, SharedTable> {
  const groups = new Map<string, PublishedCollection[]>()
  for (const collection of collections) {
    const name = collection.table.toLowerCase()
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [collection])
    else group.push(collection)
  }
  const shared = new Map<PublishedCollection, SharedTable>()
  for (const group of groups.values()) {
    if (group.length < 2) continue
    const table = tableOf(group)
    for (const collection of group) shared.set(collection, sharedTable(table, collection))
  }
  return shared
}

/** Wraps a transaction: calls for a collection with a shared table use that table. */
export function sharing(
  transaction: StorageTransaction,
  tables: ReadonlyMap<PublishedCollection, SharedTable>,
): StorageTransaction {
  if (tables.size === 0) return transaction
  return {
    filter: async (collection, query) => {
      const shared = tables.get(collection)
      if (shared === undefined) return transaction.filter(collection, query)
      const page = await transaction.filter(shared.table, shared.queryOf(query))
      return { ...page, rows: page.rows.map(shared.rowOf) }
    },
    insert: async (collection, row) => {
      const shared = tables.get(collection)
      if (shared === undefined) return transaction.insert(collection, row)
      return withFieldNames(shared, async () =>
        shared.rowOf(await transaction.insert(shared.table, shared.columnsOf(row, true))),
      )
    },
    update: async (collection, conditions, changes) => {
      const shared = tables.get(collection)
      if (shared === undefined) return transaction.update(collection, conditions, changes)
      const [found, columns] = [shared.conditionsOf(conditions), shared.columnsOf(changes, false)]
      return withFieldNames(shared, async () => {
        const row = await transaction.update(shared.table, found, columns)
        return row && shared.rowOf(row)
      })
    },
    delete: async (collection, conditions) => {
      const shared = tables.get(collection)
      if (shared === undefined) return transaction.delete(collection, conditions)
      const row = await transaction.delete(shared.table, shared.conditionsOf(conditions))
      return row && shared.rowOf(row)
    },
  }
}

/** Returns how `through` conditions find rows, in the tables that `viewOf` returns. */
export function throughTables(
  viewOf: (collection: PublishedCollection) => TableView,
  sharedBy: (collection: PublishedCollection) => SharedTable | undefined,
): MeetsThrough {
  const meets: MeetsThrough = ({ collection, conditions }, key) => {
    const shared = sharedBy(collection)
    const row =
      shared === undefined
        ? rowAt(viewOf(collection), JSON.stringify(key))
        : shared.rowWithKey(viewOf(shared.table), key)
    return row !== undefined && meetsAll(collection, row, conditions, meets)
  }
  return meets
}

async function withFieldNames<Result>(
  shared: SharedTable,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw shared.errorOf(error)
  }
}

function sharedTable(table: PublishedCollection, collection: PublishedCollection): SharedTable {
  const columns = new Map(collection.fields.map((field) => [field.name, columnOf(field)]))
  const fields = new Map(collection.fields.map((field) => [columnOf(field), field.name]))
  const named = (name: string): string => columns.get(name) ?? name
  const conditionsOf: SharedTable['conditionsOf'] = (conditions) =>
    conditions.map((condition) => onColumns(condition, named))
  const keyOrder = table.key.map(({ name }) =>
    collection.key.findIndex((part) => columnOf(part) === name),
  )
  const rowOf: SharedTable['rowOf'] = (values) =>
    Object.freeze(
      Object.fromEntries(
        collection.fields.map((field) => [field.name, values[columnOf(field)] ?? null]),
      ),
    )
  return {
    table,
    conditionsOf,
    rowWithKey(view, key) {
      const row = rowAt(view, JSON.stringify(keyOrder.map((index) => key[index])))
      return row && rowOf(row)
    },
    queryOf: ({ search, ...query }) => ({
      ...query,
      conditions: conditionsOf(query.conditions),
      search: search && { ...search, fields: search.fields.map(named) },
      sort: query.sort.map((sort) => ({ ...sort, field: named(sort.field) })),
      select: query.select.map(named),
    }),
    columnsOf: (row, isNew) => {
      const values = Object.fromEntries(
        Object.entries(row).map(([name, value]) => [named(name), value]),
      )
      const lacks = ({ name, generated }: PublishedField): boolean =>
        (values[name] ?? null) === null && generated !== 'database'
      if (isNew && table.key.some(lacks)) throw new StorageError('invalid')
      return values
    },
    rowOf,
    errorOf: (error) =>
      error instanceof StorageError
        ? new StorageError(error.kind, {
            fields: error.fields.flatMap((name) => fields.get(name) ?? []),
            cause: error,
          })
        : error,
  }
}

function onColumns(condition: Condition, named: (field: string) => string): Condition {
  switch (condition.is) {
    case 'and':
    case 'or': {
      const conditions = condition.conditions.map((one) => onColumns(one, named))
      return { is: condition.is, conditions }
    }
    case 'not':
      return { is: 'not', condition: onColumns(condition.condition, named) }
    case 'through':
      return { ...condition, fields: condition.fields.map(named) }
    default:
      return { ...condition, field: named(condition.field) }
  }
}

function tableOf(group: readonly PublishedCollection[]): PublishedCollection {
  const columns = new Map<string, PublishedField>()
  for (const collection of group) {
    for (const field of collection.fields) {
      const name = columnOf(field)
      const known = columns.get(name)
      if (known !== undefined && known.type !== field.type) {
        throw mismatch(group, `the column ${name} has the types ${known.type} and ${field.type}`)
      }
      if (known === undefined || field.inKey) columns.set(name, { ...field, name })
    }
  }
  const keys = group.map(({ key }) => key.map(columnOf)).filter((key) => key.length > 0)
  const [key = []] = keys
  if (keys.some((other) => other.toSorted().join('\0') !== key.toSorted().join('\0'))) {
    throw mismatch(group, 'their keys differ')
  }
  const fields = [...columns.values()]
  const byName = new Map(fields.map((field) => [field.name, field]))
  return Object.freeze({
    ...(group[0] as PublishedCollection),
    fields,
    byName,
    key: key.map((name) => byName.get(name) as PublishedField),
    uniques: uniquesOf(group).map((names) =>
      names.map((name) => byName.get(name) as PublishedField),
    ),
  })
}

/** Returns the columns of each unique group of the collections. */
function uniquesOf(group: readonly PublishedCollection[]): readonly (readonly string[])[] {
  const all = group.flatMap(({ uniques }) => uniques.map((fields) => fields.map(columnOf)))
  return [...new Map(all.map((names) => [names.toSorted().join('\0'), names])).values()]
}

function mismatch(group: readonly PublishedCollection[], reason: string): TypeError {
  const names = group.map(({ application, name }) => `${application}/${name}`).join(', ')
  const table = group[0]?.table ?? ''
  return new TypeError(`memoryStorage: ${names} can't share the table ${table}: ${reason}.`)
}

function columnOf({ column }: PublishedField): string {
  return column.toLowerCase()
}
