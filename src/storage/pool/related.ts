import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { allEqual, anyEqual } from '../../request/query.ts'
import type { RelatedQuery, RelatedTextPage, StorageQuery } from '../adapter.ts'
import { fieldOf } from '../sql/conditions.ts'
import type { Tables } from '../sql/dialect.ts'
import type { Sql } from '../sql/fragments.ts'
import { relatedStatement } from '../sql/related.ts'
import { pageStatement } from '../sql/statements.ts'
import { placeOf, typeOf } from '../sql/table-conditions.ts'
import type { Connection, TextRow } from './connection.ts'
import { readTogether, textPageRead } from './reads.ts'
import { createWriter, itemWriter, type WriteItem } from './rows.ts'

/** A page and the relations whose items are read with it. */
export interface RelatedPage {
  readonly tables: Tables
  readonly collection: PublishedCollection
  readonly query: StorageQuery
  readonly relations: readonly RelatedQuery[]
}

/**
 * Reads a page with its related items, as JSON text: in one statement, or in one for the page and one for each relation. Undefined
 * if a value does not fit its field, or if lists are so slow to read that each is better read alone.
 */
export async function readRelated(
  connection: Connection,
  page: RelatedPage,
): Promise<RelatedTextPage | undefined> {
  const { tables, collection, query, relations } = page
  const statement = relatedStatement(tables, collection, query, relations)
  if (statement !== undefined) return pageOf(page, statement.sql, await connection.rows(statement))
  return readSeparately(connection, page)
}

// Not those of `itemWriter`: a page of other fields may have the text of a statement of lists.
const relatedWriters = new WeakMap<Sql, readonly WriteItem[]>()

/** Returns what writes the items of a statement, one for each part of its rows. */
function writersOf(sql: Sql, create: () => readonly WriteItem[]): readonly WriteItem[] {
  const known = relatedWriters.get(sql)
  if (known !== undefined) return known
  const created = create()
  relatedWriters.set(sql, created)
  return created
}

/** Returns the page that the rows of its one statement are. */
function pageOf(
  { tables, collection, query, relations }: RelatedPage,
  sql: Sql,
  rows: readonly TextRow[],
): RelatedTextPage | undefined {
  const writers = writersOf(sql, () =>
    [{ collection, query }, ...relations].map((one) =>
      createWriter({ tables, collection: one.collection, names: one.query.select, first: 2 }),
    ),
  )
  const parts = writers.map((): string[][] => [])
  for (const row of rows) {
    const part = Number(row[1])
    const item = writers[part]?.(row)
    if (item === undefined) return undefined
    const lists = parts[part] as string[][]
    const index = Number(row[0])
    ;(lists[index] ??= []).push(item)
  }
  const [own = [], ...related] = parts
  const items = own.flat()
  return { items, related: related.map((lists) => items.map((_, index) => lists[index] ?? [])) }
}

/** Reads the page, and then all items of each relation by the values of its rows. */
async function readSeparately(
  connection: Connection,
  { tables, collection, query, relations }: RelatedPage,
): Promise<RelatedTextPage | undefined> {
  const statement = pageStatement(tables, collection, query)
  const rows = await connection.rows(statement)
  const write = itemWriter(statement.sql, { tables, collection, names: query.select })
  const items = rows.flatMap((row) => write(row) ?? [])
  if (items.length < rows.length) return undefined
  const related: (readonly (readonly string[])[])[] = []
  for (const relation of relations) {
    const keyIn = keyReader(tables, collection, relation.own)
    const indexes = relation.own.map((name) => query.select.indexOf(name))
    const keys = rows.map((row) => keyIn(indexes.map((index) => row[index] ?? null)))
    const lists = await readLists(connection, { tables, relation }, keys)
    if (lists === undefined) return undefined
    related.push(lists)
  }
  return { items, related }
}

/** The values that relate items. */
type Key = readonly StoredValue[]

/** Returns a function that reads a key from the texts of its values. */
function keyReader(
  tables: Tables,
  collection: PublishedCollection,
  names: readonly string[],
): (texts: TextRow) => Key {
  const place = placeOf(tables, collection)
  const types = names.map((name) => typeOf(place, fieldOf(collection, name)))
  return (texts) =>
    types.map((type, index) => {
      const text = texts[index] ?? null
      return text === null ? null : type.read(text)
    })
}

function textOf(key: Key): string {
  return key.length === 1 ? String(key[0]) : JSON.stringify(key)
}

interface Lists {
  readonly tables: Tables
  readonly relation: RelatedQuery
}

/** Returns the items of each key. No item has a key with null. */
async function readLists(
  connection: Connection,
  lists: Lists,
  keys: readonly Key[],
): Promise<readonly (readonly string[])[] | undefined> {
  const distinct = new Map(
    keys.flatMap((key) => (key.includes(null) ? [] : [[textOf(key), key] as const])),
  )
  if (distinct.size === 0) return keys.map(() => [])
  const found =
    (await readAtOnce(connection, lists, distinct)) ?? (await readEach(connection, lists, distinct))
  return found && keys.map((key) => (key.includes(null) ? [] : (found.get(textOf(key)) ?? [])))
}

// How many times the lists of a relation are read one by one after they were too long to be read at once.
const maxPatience = 100
const patience = new WeakMap<PublishedCollection, Map<string, number>>()

/**
 * Reads the items of all keys by one list of these, as many as the lists have together at most. Undefined if some lists are so
 * long that others are not complete.
 */
async function readAtOnce(
  connection: Connection,
  { tables, relation: { collection, query, theirs } }: Lists,
  keys: ReadonlyMap<string, Key>,
): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
  const name = theirs.join()
  const waiting = patience.get(collection) ?? new Map<string, number>()
  patience.set(collection, waiting)
  const left = waiting.get(name) ?? 0
  if (left > 0) {
    waiting.set(name, left - 1)
    return undefined
  }
  const limit = keys.size * query.limit
  const byKey = theirs.map((field) => ({ field, descending: false }))
  const others = query.sort.filter(({ field }) => !theirs.includes(field))
  const statement = pageStatement(tables, collection, {
    ...query,
    select: [...theirs, ...query.select],
    conditions: [...query.conditions, anyEqual(theirs, [...keys.values()])],
    // A reference leads to one item, which needs no order.
    sort: query.sort.length === 0 ? [] : [...byKey, ...others],
    limit: limit + 1,
  })
  const writers = writersOf(statement.sql, () => [
    createWriter({ tables, collection, names: query.select, first: theirs.length }),
  ])
  const keyIn = keyReader(tables, collection, theirs)
  const lists = new Map(Array.from(keys.keys(), (text) => [text, [] as string[]]))
  const rows = await connection.rows(statement)
  for (const row of rows) {
    const list = lists.get(textOf(keyIn(row)))
    const item = writers[0]?.(row)
    if (list === undefined || item === undefined) return undefined
    if (list.length < query.limit) list.push(item)
  }
  if (rows.length <= limit || [...lists.values()].every(({ length }) => length === query.limit))
    return lists
  waiting.set(name, maxPatience)
  return undefined
}

/** Reads the items of each key by a statement of its own, several at once. */
async function readEach(
  connection: Connection,
  { tables, relation: { collection, query, theirs } }: Lists,
  keys: ReadonlyMap<string, Key>,
): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
  const reads = Array.from(keys.values(), (key) => {
    const conditions = [...query.conditions, ...allEqual(theirs, key)]
    return textPageRead(tables, collection, { ...query, conditions })
  })
  const { joined, maxJoined } = tables.dialect
  const pages = await readTogether(connection, reads, { join: joined, maxReads: maxJoined })
  const found = pages?.flatMap((page) => (page === undefined ? [] : [page.items]))
  if (found === undefined || found.length < reads.length) return undefined
  return new Map(
    Array.from(keys.keys(), (text, index) => [text, found[index] as readonly string[]]),
  )
}
