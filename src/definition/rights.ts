import type { PublishedEventName } from './handler.ts'
import type { CollectionShape, Conditions } from './item.ts'
import type { Principal } from './principal.ts'

/** The roles that may invoke an event: a caller needs one of them. */
export type EventRoles = Readonly<Partial<Record<PublishedEventName, readonly string[]>>>

/** What a row rule compares a field with. */
export type RowValue<Value> =
  | Value
  /** An attribute of the caller. A caller who lacks it, or has null, is refused with 403. */
  | { readonly attribute: string }
  /** The caller's user identifier. */
  | { readonly principal: 'user' }

/** A row rule as plain data: the rows that equal these values, for everybody but these roles (D45). */
export interface RowRuleData<C extends CollectionShape> {
  readonly equal: { readonly [Name in keyof Conditions<C>]?: RowValue<Conditions<C>[Name]> }
  /** Callers in one of these roles see all rows. Default: nobody does. */
  readonly exceptRoles?: readonly string[]
}

/**
 * Narrows what a caller sees and writes to some rows (D45): as plain data, or as a function of the
 * caller that answers with conditions, true for all rows or false for none (403).
 */
export type RowRule<C extends CollectionShape> =
  RowRuleData<C> | ((principal: Principal) => boolean | Conditions<C>)
