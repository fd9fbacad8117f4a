import type { Condition, SortField } from '../adapter.ts'
import { join, sql, type Sql } from './fragments.ts'
import { name, type TablePlace } from './table-conditions.ts'

/** What rows are ordered by. */
export interface OrderKey {
  /** Its place in the order of the page. */
  readonly at: number
  readonly by: Sql
  /** Empty, or it starts with a space. */
  readonly direction: Sql
}

/** Rows of a page that are read in one order. */
export interface OrderedRows {
  /** Which rows of the query these are: those that meet all terms. */
  readonly terms: readonly Sql[]
  readonly keys: readonly OrderKey[]
  /** The column of the first key, if the rows of a page are found before they are sorted. */
  readonly step?: { readonly column: Sql; readonly descending: boolean }
}

/** How the rows of a page are read in their order. */
export interface PageOrder {
  /** The order of the page. */
  readonly keys: readonly OrderKey[]
  /** One or more parts of the rows, in the order of the page. */
  readonly reads: readonly OrderedRows[]
}

/** A key of an order, with the field of which it is. */
export interface FieldKey extends OrderKey {
  readonly one?: SortField
}

/** Returns ORDER BY. Empty, or it starts with a space. */
export function orderBy(keys: readonly OrderKey[]): Sql {
  const terms = keys.map(({ by, direction }) => sql`${by}${direction}`)
  return terms.length === 0 ? sql`` : sql` order by ${join(terms)}`
}

/** Returns the keys of an order in rows that have them as `o0` and so on. */
export function placedKeys(
  { dialect }: TablePlace,
  alias: string,
  keys: readonly OrderKey[],
): readonly OrderKey[] {
  return keys.map((key) => ({ ...key, by: name(dialect, alias, `o${key.at}`) }))
}

/** Returns the fields that have one value in all rows that meet conditions. */
export function boundFields(conditions: readonly Condition[]): ReadonlySet<string> {
  return new Set(
    conditions.flatMap((one) => (one.is === 'equal' && one.value !== null ? [one.field] : [])),
  )
}

/** Returns whether all rows that meet conditions have a value of a field, or none has. Undefined: neither is known. */
export function presenceOf(
  field: string,
  conditions: readonly Condition[],
): 'present' | 'absent' | undefined {
  for (const condition of conditions) {
    const known = presenceIn(field, condition)
    if (known !== undefined) return known
  }
  return undefined
}

function presenceIn(field: string, condition: Condition): 'present' | 'absent' | undefined {
  switch (condition.is) {
    case 'and':
      return presenceOf(field, condition.conditions)
    case 'or': {
      const [first, ...others] = condition.conditions.map((one) => presenceIn(field, one))
      return others.every((one) => one === first) ? first : undefined
    }
    case 'not': {
      const { condition: inner } = condition
      const isNull = inner.is === 'empty' || (inner.is === 'equal' && inner.value === null)
      return isNull && inner.field === field ? 'present' : undefined
    }
    case 'through':
    case 'empty':
      return undefined
    case 'equal':
      if (condition.field !== field) return undefined
      return condition.value === null ? 'absent' : 'present'
    default:
      return condition.field === field ? 'present' : undefined
  }
}
