import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { searchText, type StoragePage, type StorageQuery } from '../adapter.ts'
import { fieldOf } from './conditions.ts'
import type { Connection } from './connection.ts'
import type { Tables } from './dialect.ts'
import { doublesStatement, pageStatement, rowReader } from './statements.ts'

/** Returns the doubles that a query searches. */
export function searchedDoubles(
  collection: PublishedCollection,
  { search }: Pick<StorageQuery, 'search'>,
): readonly PublishedField[] {
  // Most needles can't occur in a number.
  if (search === null || !/^[-+.e0-9]*$/.test(search.text)) return []
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
  given: StorageQuery,
): Promise<StoragePage> {
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
  const { select, limit, count } = query
  if (limit === 0 && !count) return { rows: [], count: null }
  const rows = await connection.rows(pageStatement(tables, collection, query, found))
  const read = rowReader(tables.dialect, collection, select, count ? 2 : 0)
  if (!count) return { rows: rows.map(read), count: null }
  const present = rows.filter(([, mark]) => mark === '1')
  return { rows: present.map(read), count: Number(rows[0]?.[0]) }
}

function foldedSearch(collection: PublishedCollection, query: StorageQuery): StorageQuery {
  const { fields, text } = query.search as NonNullable<StorageQuery['search']>
  const needle = searchText(text)
  const canBeNumber = /^[-+.e0-9]*$/.test(needle)
  const searched = fields.filter((name) => canBeNumber || !isDouble(fieldOf(collection, name)))
  return { ...query, search: { fields: searched, text: needle } }
}
