import type { PublishedCollection } from '../../definition/published.ts'
import { oneItem } from '../../request/query.ts'
import { searchText } from '../adapter.ts'
import type { Condition, Row, StoragePage, StorageQuery, StorageTextPage } from '../adapter.ts'
import { columnTypeOf } from './columns.ts'
import type { Connection, Prepared, SqliteRow } from './connection.ts'
import type { Guaranteed } from './reading.ts'
import { readRow, unfitRow, type ReadRow } from './rows.ts'
import { needleKind, type NeedleKind } from './search.ts'
import type { Inputs } from './sql.ts'
import {
  conditionsShape,
  identityOf,
  listShape,
  sortShape,
  statementCache,
  statementCapacity,
} from './statement-cache.ts'
import {
  countStatement,
  deleteStatement,
  insertStatement,
  pageStatement,
  updateStatement,
  type Output,
  type PageShape,
  type StatementText,
} from './statements.ts'
import type { WrittenTables } from './written-tables.ts'

/** Reads and writes rows on one connection, synchronously. Throws the errors of the driver. */
export interface Session {
  filter(collection: PublishedCollection, query: StorageQuery): StoragePage
  filterText(collection: PublishedCollection, query: StorageQuery): StorageTextPage | undefined
  insert(collection: PublishedCollection, row: Row): Row
  update(
    collection: PublishedCollection,
    conditions: readonly Condition[],
    changes: Row,
  ): Row | undefined
  delete(collection: PublishedCollection, conditions: readonly Condition[]): Row | undefined
}

// Beyond this offset, skipping complete rows costs more than reading the rows of the page by their keys.
const deepOffset = 1_000
// SQLite's json_object takes at most 127 arguments in older versions.
const maxJsonFields = 60

/** What the sessions of a storage share. It grows when collections are opened. */
export interface Opened {
  readonly guaranteed: Guaranteed
  /** Returns the number of open collections. */
  collections(): number
}

/** Creates a session on a connection. It caches prepared statements, and notes which tables they write. */
export function sqliteSession(
  connection: Connection,
  opened: Opened,
  written?: WrittenTables,
): Session {
  const { guaranteed } = opened
  const statements = statementCache(() => statementCapacity(opened.collections()))
  const begin = connection.command('BEGIN')
  const commit = connection.command('COMMIT')

  // An application may have switched its handle to `case_sensitive_like`.
  const isCaseIgnored = connection.value(`SELECT 'A' LIKE 'a'`)
  const kindOf = (needle: string): NeedleKind =>
    Number(isCaseIgnored()) === 1 ? needleKind(needle) : 'any'

  // The page and the count are two statements. A transaction gives both the same snapshot.
  function inSnapshot<Result>(work: () => Result): Result {
    if (connection.inTransaction()) return work()
    begin()
    try {
      return work()
    } finally {
      if (connection.inTransaction()) commit()
    }
  }

  function page<Given>(
    collection: PublishedCollection,
    query: StorageQuery,
    output: Output,
    prepare: (sql: string) => Prepared<readonly Given[]>,
  ): { rows: readonly Given[]; count: number | null } {
    const { limit, offset, conditions } = query
    const needle = query.search === null ? '' : searchText(query.search.text)
    const search = query.search && { fields: query.search.fields, kind: kindOf(needle) }
    const deep = offset > deepOffset && collection.key.length > 0
    const shape: PageShape = { conditions, search, sort: query.sort, select: query.select, deep }
    const matching = matchingShape(collection, shape)
    const inputs: Inputs = { conditions, needle, limit, offset }

    const read = (): readonly Given[] => {
      if (limit === 0) return []
      const rest = `${deep ? 'deep' : ''}\0${sortShape(query.sort)}\0${listShape(query.select)}`
      const text = (): StatementText => pageStatement(collection, shape, { output, guaranteed })
      return statements.run(`${output}${matching}\0${rest}`, text, prepare, inputs)
    }
    const count = (): number => {
      const text = (): StatementText => countStatement(collection, shape)
      return Number(statements.run(`count${matching}`, text, connection.rows, inputs)[0]?.[0])
    }
    if (!query.count) return { rows: read(), count: null }
    return inSnapshot(() => {
      const rows = read()
      const isLast = rows.length < limit && (offset === 0 || rows.length > 0)
      return { rows, count: isLast ? offset + rows.length : count() }
    })
  }

  function prepareWrite(sql: string): Prepared<readonly SqliteRow[]> {
    const run = connection.rows(sql)
    return written === undefined ? run : written.noting(sql, run)
  }

  function change(
    collection: PublishedCollection,
    shape: string,
    write: () => StatementText,
    inputs: Inputs,
  ): ReadRow | undefined {
    const [row] = statements.run(`${identityOf(collection)}\0${shape}`, write, prepareWrite, inputs)
    return row && readRow(collection, collection.allNames, row)
  }

  function read(collection: PublishedCollection, query: StorageQuery, output: 'rows' | 'lengths') {
    const { rows, count } = page(collection, query, output, connection.rows)
    return { rows: rows.map((row) => readRow(collection, query.select, row)), count }
  }

  function filter(collection: PublishedCollection, query: StorageQuery): StoragePage {
    let { rows, count } = read(collection, query, 'rows')
    if (!rows.every(isCertain)) {
      // Read again with the key, for the report. The rows may have been corrected meanwhile.
      const names = [...collection.key.map(({ name }) => name), ...query.select]
      ;({ rows, count } = read(collection, { ...query, select: [...new Set(names)] }, 'lengths'))
      const broken = rows.find(({ unfit }) => unfit.length > 0)
      if (broken !== undefined) throw unfitRow(collection, broken)
    }
    return { rows: rows.map(({ row }) => row), count }
  }

  return {
    filter,
    filterText(collection, query) {
      if (!writesJson(collection, query.select)) return undefined
      const { rows, count } = page(collection, query, 'json', connection.strings)
      // If a row does not fit, the service calls `filter`, which finds the field.
      return isText(rows) ? { items: rows, count } : undefined
    },
    insert(collection, row) {
      const names = namesIn(row)
      const stored = change(
        collection,
        `insert\0${listShape(names)}`,
        () => insertStatement(collection, names, guaranteed),
        { conditions: [], row },
      ) as ReadRow
      if (stored.unfit.length > 0) throw unfitRow(collection, stored)
      return stored.row
    },
    update(collection, conditions, changes) {
      const names = namesIn(changes)
      if (names.length === 0) {
        const query = oneItem(conditions, collection.allNames)
        return read(collection, query, 'lengths').rows[0]?.row
      }
      return change(
        collection,
        `update\0${conditionsShape(conditions)}\0${listShape(names)}`,
        () => updateStatement(collection, conditions, names, guaranteed),
        { conditions, row: changes },
      )?.row
    },
    delete(collection, conditions) {
      return change(
        collection,
        `delete\0${conditionsShape(conditions)}`,
        () => deleteStatement(collection, conditions, guaranteed),
        { conditions },
      )?.row
    },
  }
}

function matchingShape(collection: PublishedCollection, shape: PageShape): string {
  const { search } = shape
  const searched = search && `${search.kind}\0${listShape(search.fields)}`
  return `${identityOf(collection)}\0${conditionsShape(shape.conditions)}\0${searched ?? ''}`
}

function namesIn(row: Row): readonly string[] {
  return Object.keys(row).filter((name) => row[name] !== undefined)
}

// The fields of a collection that SQLite can't write as JSON.
const withoutJson = new WeakMap<PublishedCollection, readonly string[]>()

function writesJson(collection: PublishedCollection, select: readonly string[]): boolean {
  if (select.length > maxJsonFields) return false
  let names = withoutJson.get(collection)
  if (names === undefined) {
    const fields = collection.fields.filter((field) => columnTypeOf(field).json === undefined)
    names = fields.map(({ name }) => name)
    withoutJson.set(collection, names)
  }
  return !names.some((name) => select.includes(name))
}

function isCertain({ unfit, uncertain }: ReadRow): boolean {
  return unfit.length === 0 && !uncertain
}

// Drivers replace invalid UTF-8 with U+FFFD.
function isText(items: readonly (string | null)[]): items is readonly string[] {
  return items.every((item) => item !== null && !item.includes('\ufffd'))
}
