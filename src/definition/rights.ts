import type { PublishedEventName } from './handler.ts'
import type { EqualConditions } from './conditions.ts'
import type { CollectionShape } from './item.ts'
import type { Principal } from './principal.ts'

/** The roles that may invoke an event: a caller needs one of them. */
export type EventRoles = Readonly<Partial<Record<PublishedEventName, readonly string[]>>>

/** The value that a row rule compares a field with. */
export type RowValue<Value> =
  | Value
  /** An attribute of the caller. If it is missing or null, the response is 403. */
  | { readonly attribute: string }
  /** The caller's user identifier. */
  | { readonly principal: 'user' }

/** A row rule as plain data: the values that a row must have, except for callers in some roles. */
export interface RowRuleData<C extends CollectionShape> {
  readonly equal: {
    readonly [Name in keyof EqualConditions<C>]?: RowValue<EqualConditions<C>[Name]>
  }
  /** Callers in one of these roles can read and write all rows. Default: none. */
  readonly exceptRoles?: readonly string[]
}

/**
 * Limits the rows that a caller can read and write: plain data, or a function that returns conditions,
 * true for all rows, or false for none (403).
 */
export type RowRule<C extends CollectionShape> =
  RowRuleData<C> | ((principal: Principal) => boolean | EqualConditions<C>)
