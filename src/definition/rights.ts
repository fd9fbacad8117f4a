import { isPlainObject } from '../checks/plain-object.ts'
import type { PublishedEventName } from './handler.ts'
import type { EqualConditions, RowConditions, Through } from './conditions.ts'
import type { CollectionShape } from './item.ts'
import type { Principal } from './principal.ts'

/** The roles that may invoke an event: a caller needs one of them. */
export type EventRoles = Readonly<Partial<Record<PublishedEventName, readonly string[]>>>

/** A value of the caller that a row rule compares a field with. If it is missing or null, the response is 403. */
export type OwnValue =
  /** An attribute of the caller. */
  | { readonly attribute: string }
  /** The caller's user identifier. */
  | { readonly principal: 'user' }

/**
 * A row rule as plain data: what a row must meet, except for callers in some roles. At least one of the first three
 * members is given, and all must hold.
 */
export interface RowRuleData<C extends CollectionShape> {
  /** The values that fields must have. */
  readonly equal?: {
    readonly [Name in keyof EqualConditions<C>]?: EqualConditions<C>[Name] | OwnValue
  }
  /** Conditions with operators. */
  readonly where?: RowConditions<C, OwnValue>
  /** That the row of another collection, to which the row belongs, is one that the caller may read. */
  readonly through?: Through<C['fields']> | readonly Through<C['fields']>[]
  /** Callers in one of these roles can read and write all rows. Default: none. */
  readonly exceptRoles?: readonly string[]
}

/**
 * Limits the rows that a caller can read and write: plain data, or a function that returns conditions,
 * true for all rows, or false for none (403).
 */
export type RowRule<C extends CollectionShape> =
  | (RowRuleData<C> &
      (
        | Required<Pick<RowRuleData<C>, 'equal'>>
        | Required<Pick<RowRuleData<C>, 'where'>>
        | Required<Pick<RowRuleData<C>, 'through'>>
      ))
  | ((principal: Principal) => boolean | RowConditions<C>)

/** Returns whether a part of a row rule as data is a value of the caller. */
export function isOwnValue(given: unknown): given is OwnValue {
  if (!isPlainObject(given) || Object.keys(given).length !== 1) return false
  return typeof given['attribute'] === 'string' || given['principal'] === 'user'
}

/** Returns the lists of roles of each event: those of all events, and its own. */
export function rolesByEvent(
  everyEvent: readonly (readonly string[] | undefined)[],
  byEvent: EventRoles = {},
): Readonly<Record<PublishedEventName | 'Custom', readonly (readonly string[])[]>> {
  const lists = (event?: PublishedEventName) =>
    [...everyEvent, event && byEvent[event]].filter((roles) => roles !== undefined)
  return {
    Filter: lists('Filter'),
    Insert: lists('Insert'),
    Update: lists('Update'),
    Delete: lists('Delete'),
    Custom: lists(),
  }
}
