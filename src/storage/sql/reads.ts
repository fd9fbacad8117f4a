import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { searchText } from '../adapter.ts'
import type { Condition, StoragePage, StorageQuery, StorageTextPage } from '../adapter.ts'
import { fieldOf } from './conditions.ts'
import type { Connection, TextRow } from './connection.ts'
import type { Tables } from './dialect.ts'
import { itemWriter, rowReader } from './rows.ts'
import { mayContain } from './search.ts'
import { doublesStatement, pageStatement, planStatement } from './statements.ts'

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
  const { rows, first, count } = await readTexts(connection, tables, collection, query)
  const read = rowReader(tables, collection, query.select, first)
  return { rows: rows.map(read), count }
}

/** Reads a page as JSON text. Undefined if a value does not fit its field. */
export async function readTextPage(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  query: StorageQuery,
): Promise<StorageTextPage | undefined> {
  const { rows, first, count } = await readTexts(connection, tables, collection, query)
  const write = itemWriter(tables, collection, query.select, first)
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
  const found = new Map<PublishedField, readonly number[]>()
  const query = given.search === null ? given : foldedSearch(collection, given)
  // The server writes some doubles with other digits than JavaScript.
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
  const { limit, count } = query
  if (limit === 0 && !count) return { rows: [], first: 0, count: null }
  const rows = await connection.rows(pageStatement(tables, collection, query, found))
  if (!count) return { rows, first: 0, count: null }
  const present = rows.filter(([, mark]) => mark === '1')
  return { rows: present, first: 2, count: Number(rows[0]?.[0]) }
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
