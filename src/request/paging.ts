import type { StoredValue } from '../definition/field-type.ts'
import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { cursorTooLong, decodeCursor, encodeCursor, type Cursor } from '../protocol/cursor.ts'
import { askedPart } from './asked-condition.ts'
import { digestOf } from './digest.ts'
import { anyOf, positionFields, rangesAfter, type PositionField } from './keyset.ts'
import { partsOf, type Condition, type Row, type StorageQuery } from './query.ts'

/** How pages of a collection with a cursor or with estimated counts are read. */
export interface Paging {
  /** Undefined if the collection has no cursors. */
  readonly cursor: CursorPlan | undefined
  /** Whether a count may be an estimate. */
  readonly estimates: boolean
}

/** Where a page starts, and what the cursor of the next one is made from. */
export interface CursorPlan {
  /** The collection, conditions, search and order, as text. The limit and the selected fields may change. */
  readonly subject: string
  /** The fields whose values are a position. */
  readonly fields: readonly PositionField[]
  /** The cursor that the page continues; undefined for a first page. */
  readonly given: Cursor | undefined
  /** The further conditions of the page: ranges of the order, one after the other. */
  readonly ranges: readonly (readonly Condition[])[]
  /** Returns the error for a cursor of another query or caller. */
  readonly mismatch: () => Error
}

/** The cursor of a caller, and how a mistake in it is reported. */
export interface GivenCursor {
  readonly text: string | undefined
  /** The name of the parameter. */
  readonly parameter: string
  readonly invalid: (message: string) => Error
}

/**
 * Plans a page of a collection with cursors. `conditions` come from the caller, without its row rule: rights
 * are applied to each page separately. Throws for a string that is not a cursor of the order.
 */
export function planCursor(
  collection: PublishedCollection,
  query: Pick<StorageQuery, 'conditions' | 'search' | 'sort'>,
  { text, parameter, invalid }: GivenCursor,
): CursorPlan {
  const { application, name, serve } = collection
  const { conditions, search, sort } = query
  const fields = positionFields(collection, sort)
  const subject = JSON.stringify([
    application,
    name,
    sort.map(({ field, descending }) => [field, descending]),
    conditions.map((condition) => JSON.stringify(partsOf(askedPart(condition)))).toSorted(),
    search?.text ?? null,
  ])
  const mismatch = () =>
    invalid(
      `The parameter ${parameter} must be the cursor of a page with the same filters, search and order, for the same caller.`,
    )
  if (text === undefined) return { subject, fields, given: undefined, ranges: [[]], mismatch }
  if (text === cursorTooLong) {
    throw invalid(
      `The values by which the page is sorted are too long for a cursor. Use an offset, or sort by other fields.`,
    )
  }
  const given = decodeCursor(text)
  if (given === undefined || !isPosition(fields, given.values)) throw mismatch()
  const ranges = rangesAfter(fields, given.values)
  // A function is called once for a page.
  const single = serve !== undefined && ranges.length > 1
  return { subject, fields, given, ranges: single ? [[oneOf(ranges)]] : ranges, mismatch }
}

function oneOf(ranges: CursorPlan['ranges']): Condition {
  return anyOf(ranges.map((conditions) => ({ is: 'and', conditions })))
}

function isPosition(fields: readonly PositionField[], values: readonly StoredValue[]): boolean {
  return (
    values.length === fields.length &&
    fields.every(({ field }, index) => {
      const value = values[index] ?? null
      return value === null ? !field.inKey : field.isStored(value)
    })
  )
}

/** Throws unless the cursor that a page continues was made for the same query and caller. */
export async function requireOwnCursor(plan: CursorPlan, caller: Principal): Promise<void> {
  const { given, mismatch } = plan
  if (given === undefined) return
  if (given.digest !== (await digestFor(plan, caller, given.values))) throw mismatch()
}

/** Returns the cursor of the page that begins after a row. */
export async function cursorAfter(plan: CursorPlan, caller: Principal, row: Row): Promise<string> {
  const values = plan.fields.map(({ field }) => row[field.name] ?? null)
  return encodeCursor({ digest: await digestFor(plan, caller, values), values })
}

/**
 * The digest has no key: everything in a cursor is checked as input, and a cursor that a client computes
 * itself starts a page of the same query elsewhere, with the rights of its caller.
 */
function digestFor(
  { subject }: CursorPlan,
  { kind, user }: Principal,
  values: Cursor['values'],
): MaybePromise<string> {
  return digestOf(JSON.stringify(['cursor', subject, kind, user, values]))
}
