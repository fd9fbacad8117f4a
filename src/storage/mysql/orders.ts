import type { Table } from '../../schema/model.ts'
import { maxIndexedCharacters } from '../../schema/mysql/column-types.ts'
import type { LackingIndex, OrderColumn, Orders } from '../sql/dialect.ts'

/** How names are written, and the collation that orders by code point. */
interface Written {
  readonly quoted: (name: string) => string
  readonly collation: string
}

/** A column of an index that has an order. */
interface Part {
  readonly name: string
  /** The column whose values it has. */
  readonly of: string
  readonly descending: boolean
  /** The statement that creates it, if it does not exist. */
  readonly create?: string
  /** The bytes of its longest value. */
  readonly bytes: number
}

// Four for each character.
const maxBytes = 4 * maxIndexedCharacters
// No number and no time is longer in an index.
const maxPlainBytes = 32

/**
 * Returns which indexes orders lack. An index has the order of one collation: a text column of another one needs a
 * generated column with its values, which takes no space in the rows.
 */
export function mysqlOrders(written: Written): Orders {
  return {
    lacking(table, orders) {
      // Names of columns that the statements of earlier orders create, by the column whose values they have.
      const planned = new Map<string, string>()
      return orders.map((order) => {
        const parts = order.map((column) => partOf(written, table, { column, planned }))
        const known = parts.filter((part) => part !== undefined)
        if (known.length < parts.length || isOrdered(table, known)) return undefined
        const fitting = fittingParts(known)
        for (const { name, create, of } of fitting) {
          if (create !== undefined) planned.set(of, name)
        }
        return { statements: fitting.length === 0 ? [] : statementsOf(written, table, fitting) }
      })
    },
  }
}

/** Returns the part of an index that has the order of a column. Undefined: nothing is known that has. */
function partOf(
  { quoted, collation }: Written,
  { name: table, columns }: Table,
  {
    column: given,
    planned,
  }: { readonly column: OrderColumn; readonly planned: ReadonlyMap<string, string> },
): Part | undefined {
  const { column, descending, inOrder, isText } = given
  const bytes = isText ? 4 * (column.length ?? maxIndexedCharacters) : maxPlainBytes
  const own = { of: column.name, descending, bytes }
  if (given.sql === given.stored) return { ...own, name: column.name }
  if (inOrder !== undefined) return { ...own, name: inOrder.name }
  const { length } = column
  if (!isText || length === undefined || !['varchar', 'enum'].includes(column.base))
    return undefined
  const known = planned.get(column.name)
  if (known !== undefined) return { ...own, name: known }
  const name = newName(`${column.name}_order`, [
    ...columns.map((one) => one.name),
    ...planned.values(),
  ])
  // No statement of another program sees the column, unless it names it.
  const declared = `varchar(${length}) CHARACTER SET utf8mb4 COLLATE ${collation} GENERATED ALWAYS AS (${quoted(column.name)}) VIRTUAL INVISIBLE`
  const create = `ALTER TABLE ${quoted(table)} ADD COLUMN ${quoted(name)} ${declared};`
  return { ...own, name, create }
}

function newName(wanted: string, taken: readonly string[]): string {
  const folded = new Set(taken.map((name) => name.toLowerCase()))
  // A name has at most 64 characters.
  const names = ['', ...Array.from(taken, (_, at) => String(at + 2))].map(
    (end) => `${Array.from(wanted).slice(0, 60).join('')}${end}`,
  )
  return names.find((name) => !folded.has(name.toLowerCase())) ?? wanted
}

/** Returns whether a table has an index in whose order pages are read: the storage sorts rows with the same value itself. */
function isOrdered({ indexes }: Table, [first]: readonly Part[]): boolean {
  return indexes.some(({ columns: [own] }) => own !== undefined && own.name === first?.name)
}

/** Returns the first parts, as many as one index can have. */
function fittingParts(parts: readonly Part[]): readonly Part[] {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  return bytes <= maxBytes ? parts : fittingParts(parts.slice(0, -1))
}

function statementsOf(
  { quoted }: Written,
  { name: table }: Table,
  parts: readonly Part[],
): LackingIndex['statements'] {
  const terms = parts.map(({ name, descending }) => `${quoted(name)}${descending ? ' DESC' : ''}`)
  const columns = parts.flatMap(({ create }) => create ?? [])
  return [...columns, `ALTER TABLE ${quoted(table)} ADD INDEX (${terms.join(', ')});`]
}
