import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { searchText } from '../adapter.ts'
import type { Condition, StoragePage, StorageQuery, StorageTextPage } from '../adapter.ts'
import { fieldOf } from './conditions.ts'
import type { Connection, TextRow } from './connection.ts'
import type { Tables } from './dialect.ts'
import type { Sql } from './fragments.ts'
import { itemWriter, rowReader } from './rows.ts'
import { mayContain } from './search.ts'
import { doublesStatement, pageStatement, planStatement, type FoundDoubles } from './statements.ts'

/** Returns the doubles that a query searches. */
export function searchedDoubles(
  collection: PublishedCollection,
  { search }: Pick<StorageQuery, 'search'>,
): readonly PublishedField[] {
  // Most needles can't occur in a number.
  if (search === null || !mayContain('double', search.text)) return []
  return search.fields.map((name) => fieldOf(collection, name)).filter(isDouble)
}

function isDouble({ type }: PublishedField): boolean {
  return type === 'double'
}

/** Reads a page. */
export async function readPage(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  query: StorageQuery,
): Promise<StoragePage> {
  const { sql, rows, first, count } = await readTexts(connection, tables, collection, query)
  if (sql === undefined) return { rows: [], count }
  const read = rowReader(sql, { tables, collection, names: query.select, first })
  return { rows: rows.map(read), count }
}

/** Reads a page as JSON text. Undefined if a value does not fit its field. */
export async function readTextPage(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  query: StorageQuery,
): Promise<StorageTextPage | undefined> {
  const { sql, rows, first, count } = await readTexts(connection, tables, collection, query)
  if (sql === undefined) return { items: [], count }
  const write = itemWriter(sql, { tables, collection, names: query.select, first })
  const items: string[] = []
  for (const row of rows) {
    const item = write(row)
    // The service then calls `filter`, and finds the field.
    if (item === undefined) return undefined
    items.push(item)
  }
  return { items, count }
}

/** The rows of a page as the server wrote them. */
interface TextRows {
  /** Undefined if the query needs no statement. */
  readonly sql: Sql | undefined
  readonly rows: readonly TextRow[]
  /** Where the values of the selected fields begin. */
  readonly first: number
  readonly count: number | null
}

async function readTexts(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  given: StorageQuery,
): Promise<TextRows> {
  const { limit, count } = given
  if (limit === 0 && !count) return { sql: undefined, rows: [], first: 0, count: null }
  const query = given.search === null ? given : foldedSearch(collection, given)
  const found =
    query.search === null ? noDoubles : await findDoubles(connection, tables, collection, query)
  const statement = pageStatement(tables, collection, query, found)
  const { sql } = statement
  const rows = await connection.rows(statement)
  if (!count) return { sql, rows, first: 0, count: null }
  const present = rows.filter(([, mark]) => mark === '1')
  return { sql, rows: present, first: 2, count: Number(rows[0]?.[0]) }
}

const noDoubles: FoundDoubles = new Map()

/** Reads the doubles that a search finds: the server writes some of them with other digits than JavaScript. */
async function findDoubles(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  query: StorageQuery,
): Promise<FoundDoubles> {
  const found = new Map<PublishedField, readonly number[]>()
  for (const field of searchedDoubles(collection, query)) {
    const needle = query.search?.text ?? ''
    const { conditions } = query
    const rows = await connection.rows(doublesStatement(tables, collection, conditions, field))
    const values = rows.flatMap(([text]) => (typeof text === 'string' ? [Number(text)] : []))
    found.set(
      field,
      values.filter((value) => searchText(String(value)).includes(needle)),
    )
  }
  return found
}

/** Returns about how many rows meet conditions, as the database plans to read them. */
export async function estimateCount(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  conditions: readonly Condition[],
): Promise<number | undefined> {
  const { estimates } = tables.dialect
  if (estimates === undefined) return undefined
  const { explain, rows } = estimates
  const plan = await connection.rows(planStatement(tables, collection, conditions, explain))
  return rows(JSON.parse(plan.map(([line]) => line ?? '').join('\n')))
}

function foldedSearch(collection: PublishedCollection, query: StorageQuery): StorageQuery {
  const { fields, text } = query.search as NonNullable<StorageQuery['search']>
  const needle = searchText(text)
  // A field that no index has would make the database read the table.
  const searched = fields.filter((name) => mayContain(fieldOf(collection, name).type, needle))
  return { ...query, search: { fields: searched, text: needle } }
}
