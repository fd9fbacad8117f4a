import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { runtime } from '../../runtime.ts'
import { searchText } from '../adapter.ts'
import type { Condition, StoragePage, StorageQuery, StorageTextPage } from '../adapter.ts'
import { fieldOf } from '../sql/conditions.ts'
import type { BoundStatement, Connection, TextRow } from './connection.ts'
import type { Dialect, Tables } from '../sql/dialect.ts'
import { itemWriter, rowReader } from './rows.ts'
import { mayContain } from '../sql/search.ts'
import {
  doublesStatement,
  pageStatement,
  planStatement,
  type FoundDoubles,
} from '../sql/statements.ts'

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

/** Returns a query with the needle of its search folded, without the fields that can't contain it. */
export function foldedSearch(collection: PublishedCollection, query: StorageQuery): StorageQuery {
  if (query.search === null) return query
  const { fields, text } = query.search
  const needle = searchText(text)
  // A field that no index has would make the database read the table.
  const searched = fields.filter((name) => mayContain(fieldOf(collection, name).type, needle))
  return { ...query, search: { fields: searched, text: needle } }
}

/** A read of one statement. */
export interface Read<Page> {
  readonly statement: BoundStatement
  /** Returns the page that the rows of the statement are. `before` is how many values precede theirs; default 0. */
  page(rows: readonly TextRow[], before?: number): Page
}

/** Reads a page. */
export async function readPage(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  given: StorageQuery,
): Promise<StoragePage> {
  const query = foldedSearch(collection, given)
  const found =
    query.search === null ? noDoubles : await findDoubles(connection, tables, collection, query)
  const { statement, page } = pageRead(tables, collection, query, found)
  return page(isEmpty(query) ? [] : await connection.rows(statement))
}

/** Returns the read of a page. Its search is folded; `found` are the doubles that it finds. */
export function pageRead(
  tables: Tables,
  collection: PublishedCollection,
  query: StorageQuery,
  found: FoundDoubles = noDoubles,
): Read<StoragePage> {
  const statement = pageStatement(tables, collection, query, found)
  const { count, select: names } = query
  return {
    statement,
    page(rows, before = 0) {
      const first = count ? 2 : 0
      const read = rowReader(statement.sql, { tables, collection, names, first })
      const own = count ? present(rows, before) : rows
      return {
        rows: own.map((row) => read(row, before)),
        count: count ? countOf(rows, before) : null,
      }
    },
  }
}

/**
 * Returns the read of a page as JSON text. Its search is folded. The page is undefined if a value does not fit its
 * field.
 */
export function textPageRead(
  tables: Tables,
  collection: PublishedCollection,
  query: StorageQuery,
): Read<StorageTextPage | undefined> {
  const statement = pageStatement(tables, collection, query)
  const { count, select: names } = query
  return {
    statement,
    page(rows, before = 0) {
      const first = count ? 2 : 0
      const write = itemWriter(statement.sql, { tables, collection, names, first })
      const items: string[] = []
      for (const row of count ? present(rows, before) : rows) {
        const item = write(row, before)
        // The service then calls `filter`, and finds the field.
        if (item === undefined) return undefined
        items.push(item)
      }
      return { items, count: count ? countOf(rows, before) : null }
    },
  }
}

// Reads that take so many milliseconds each are work for the server, which one statement on one connection only delays.
const slowRead = 5
// Few, because they show how long each takes.
const firstReads = 16

/**
 * Runs reads of the same text, as many in one statement as the database can join. Undefined if they are slow: each alone, they
 * can use several connections.
 */
export async function readTogether<Page>(
  connection: Connection,
  reads: readonly Read<Page>[],
  { join, maxReads }: { readonly join: Dialect['joined']; readonly maxReads: number },
): Promise<readonly Page[] | undefined> {
  const pages: Page[] = []
  while (pages.length < reads.length) {
    const next = pages.length + (pages.length === 0 ? firstReads : maxReads)
    const part = reads.slice(pages.length, next)
    const began = runtime.performanceNow()
    const rows = await connection.rows(joinedStatement(part, join))
    const time = runtime.performanceNow() - began
    const { parts, before } = partsOf(part, rows)
    for (const [index, read] of part.entries()) pages.push(read.page(parts[index] ?? [], before))
    if (time > slowRead * part.length && pages.length < reads.length) return undefined
  }
  return pages
}

/** Returns one statement for reads of the same text. */
export function joinedStatement(
  reads: readonly Read<unknown>[],
  join: Dialect['joined'],
): BoundStatement {
  const statements = reads.map(({ statement }) => statement)
  const [first] = statements as [BoundStatement]
  return statements.length === 1 ? first : join(statements)
}

/** The rows of several reads, and how many values precede those of a read. */
export interface Parts {
  readonly parts: readonly (readonly TextRow[])[]
  readonly before: number
}

/** Returns the rows of each of the reads of a {@link joinedStatement}. */
export function partsOf(reads: readonly unknown[], rows: readonly TextRow[]): Parts {
  if (reads.length === 1) return { parts: [rows], before: 0 }
  const parts: TextRow[][] = reads.map(() => [])
  for (const row of rows) parts[Number(row[0])]?.push(row)
  return { parts, before: 1 }
}

/** Returns whether a query needs no statement. */
export function isEmpty({ limit, count }: StorageQuery): boolean {
  return limit === 0 && !count
}

// With a count, each row begins with the count and with a mark if it is one of the page.
function present(rows: readonly TextRow[], before: number): readonly TextRow[] {
  return rows.filter((row) => row[before + 1] === '1')
}

function countOf([first]: readonly TextRow[], before: number): number {
  return Number(first?.[before])
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
