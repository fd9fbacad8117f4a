import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Connection } from '../../storage/sqlite/connection/connection.ts'
import type { FoundTables } from '../database.ts'
import { finder, folded, type Column, type SearchEntry, type Table } from '../model.ts'
import { sqliteTables } from './database.ts'
import { checkedKeys } from './foreign-keys.ts'
import { exactFields } from './statements.ts'
import {
  indexesOf,
  keyColumns,
  listTables,
  readableColumns,
  searchEntries,
  type ListedTable,
  type SqliteColumn,
} from './read.ts'

/** Reads the tables of collections. The number of statements does not depend on the number of tables. */
export function readTables(
  connection: Connection,
  collections: readonly PublishedCollection[],
): FoundTables {
  const wanted = new Set(collections.map(({ table }) => folded(table)))
  const listed = listTables(connection).filter(({ name }) => wanted.has(folded(name)))
  const names = listed.map(({ name }) => name)
  const { columns, failures } = readableColumns(connection, names)
  // Most collections have the primary key as their key, so indexes and foreign keys are seldom read.
  const indexes = once(() => indexesOf(connection, names))
  const keys = once(() => checkedKeys(connection, listed))
  const searches = once((): readonly SearchEntry[] => searchEntries(connection))
  const tables = new Map(
    listed.map((each) => {
      const { name } = each
      const named = (own: string): Table => ({
        ...describedTable(each, columns.get(name) ?? []),
        name: own,
        failure: failures.get(name),
        get indexes() {
          return (indexes().get(name) ?? []).filter(({ partial }) => !partial)
        },
        get foreignKeys() {
          return keys().get(name) ?? []
        },
      })
      return [folded(name), named] as const
    }),
  )
  // Messages and statements have the names of the definition.
  const find = remembered((name: string) => tables.get(folded(name))?.(name))
  const written = remembered((collection: PublishedCollection): ReadonlySet<PublishedField> => {
    const statement = find(collection.table)?.statement ?? ''
    return new Set(statement === '' ? [] : exactFields(statement, collection))
  })
  return { dialect: sqliteTables, identityOf: folded, searches, find, written }
}

function remembered<Key, Result>(read: (key: Key) => Result): (key: Key) => Result {
  const results = new Map<Key, Result>()
  return (key) => {
    if (!results.has(key)) results.set(key, read(key))
    return results.get(key) as Result
  }
}

function once<Result>(read: () => Result): () => Result {
  let result: { readonly value: Result } | undefined
  return () => (result ??= { value: read() }).value
}

function describedTable(
  { name, kind, statement, withoutRowId, strict }: ListedTable,
  described: readonly SqliteColumn[],
) {
  const keyed = keyColumns(described)
  const [first, ...others] = keyed
  const isNumber = ({ name: own, declared }: Column): boolean =>
    own === first && others.length === 0 && !withoutRowId && declared.toUpperCase() === 'INTEGER'
  // A foreign key compares with the collation of the referenced column.
  const isDeterministic = !/\bCOLLATE\s+(?!"?BINARY\b)/i.test(statement)
  const columns = described.map((column): Column => {
    const numberedBy = isNumber(column) ? ('SQLite' as const) : undefined
    if (isDeterministic && numberedBy === undefined) return column
    return { ...column, numberedBy, isDeterministic }
  })
  const find = finder(columns)
  const primary = keyed.length === 0 ? undefined : keyed
  const isTable = kind === 'table'
  const rowId = ['rowid', '_rowid_', 'oid'].find((own) => find(own) === undefined)
  return {
    ...{ id: folded(name), schema: 'main', columns, find, primary, hasOwnKey: true },
    kind: isTable ? ('table' as const) : kind === 'view' ? ('view' as const) : ('other' as const),
    ...{ statement, strict, withoutRowId, constraints: new Map<string, readonly string[]>() },
    identity: withoutRowId ? primary : isTable && rowId !== undefined ? [rowId] : undefined,
  }
}
