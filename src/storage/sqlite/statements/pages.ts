import type { PublishedCollection } from '../../../definition/published.ts'
import type { SqliteValue } from '../connection/connection.ts'
import { raw, sql, type Inputs, type Slot, type Sql } from '../../sql/fragments.ts'
import { pageOf, type PageShape, type Reading, type StatementText } from './statements.ts'

// JSON contains no such character.
const itemEnd = '\x1e'

/**
 * Returns one statement for several pages that differ in the values of `equal` conditions, as JSON text: a list of these values,
 * and the page as a subquery of it. It takes a third of the time of a statement for each page, which is the driver's. Its rows are
 * for {@link readPages}, and its parameters are {@link valuesOfPages}.
 */
export function pagesStatement(
  collection: PublishedCollection,
  shape: PageShape,
  { reading, pages }: { readonly reading: Reading; readonly pages: number },
): StatementText {
  const { texts, slots } = pageOf(collection, shape, reading)
  let column = 1
  const page = texts.reduce((before, text, index) => {
    // Other values are bound once: LIMIT can't refer to a column, and a list of values would be parsed for each row.
    const value = slots[index - 1]?.isOwnEqual === true ? `list.column${++column}` : '?'
    return `${before}${value}${text}`
  })
  const row = ', ?'.repeat(column - 1)
  const rows = Array.from({ length: pages }, (_, index) => `(${index}${row})`).join(', ')
  const list = `(values ${rows}) as list where list.column1 < ?`
  const items = itemsOf(raw(page)).texts.join('')
  return { sql: `select list.column1, ${items} from ${list}`, slots }
}

/** Returns the subquery whose value is the items of a page, for {@link readItems}. */
export function itemsOf(page: Sql): Sql {
  // An item that does not fit its fields is null.
  const items = raw(`group_concat(coalesce(item, '') || char(${itemEnd.charCodeAt(0)}), '')`)
  return sql`(select ${items} from (${page}))`
}

/** Returns the parameters of a statement of `pages` pages. Those without inputs are not read. */
export function valuesOfPages(
  slots: readonly Slot[],
  inputs: readonly Inputs[],
  pages: number,
): SqliteValue[] {
  const [first] = inputs as [Inputs]
  const own = slots.filter(({ isOwnEqual }) => isOwnEqual === true)
  const values: SqliteValue[] = []
  for (const slot of slots) if (slot.isOwnEqual !== true) values.push(slot.read(first))
  for (const each of inputs) for (const slot of own) values.push(slot.read(each))
  for (let rest = (pages - inputs.length) * own.length; rest > 0; rest--) values.push(null)
  values.push(inputs.length)
  return values
}

/** Returns the items of each page. One that does not fit is null. */
export function readPages(
  rows: readonly (readonly SqliteValue[])[],
): readonly (readonly (string | null)[])[] {
  const pages: (readonly (string | null)[])[] = []
  for (const [index, text] of rows) pages[Number(index)] = readItems(text)
  return pages
}

/** Returns the items of a page. One that does not fit is null. */
export function readItems(text: SqliteValue | undefined): readonly (string | null)[] {
  const items = typeof text === 'string' ? text.split(itemEnd).slice(0, -1) : []
  return items.map((item) => (item === '' ? null : item))
}
