import type { Principal } from '../definition/principal.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { RowRuleData, RowValue } from '../definition/rights.ts'
import type { CollectionShape } from '../definition/item.ts'
import { forbidden, type ServiceError } from '../errors.ts'
import type { Condition, ItemValues } from './query.ts'

/** A condition of a row rule: always an equality. */
export type RowCondition = Extract<Condition, { readonly is: 'equal' }>

/**
 * Returns the conditions of the row rule for a caller; without conditions, all rows. Throws FORBIDDEN if
 * the rule allows no rows, and a TypeError if it returns anything but conditions, true or false.
 */
export function rowsOf(
  collection: PublishedCollection,
  caller: Principal,
): readonly RowCondition[] {
  const rule = collection.rows
  if (rule === undefined) return []
  if (typeof rule !== 'function') return fromData(collection, rule, caller)
  const answer: unknown = rule(caller)
  if (answer === true) return []
  if (answer === false) throw noRow(collection, caller, 'returned false')
  // An unhandled rejection would end the process.
  if (answer instanceof Promise) answer.catch(() => undefined)
  const given = Object.entries(Object(answer) === answer ? (answer as object) : {})
  // An empty object would allow all rows by mistake. A rule returns true for that.
  if (given.length === 0 || 'then' in (answer as object)) {
    throw new TypeError(
      `The row rule of ${collection.application}/${collection.name} must return conditions, true or false.`,
    )
  }
  return given.map(([name, value]) => {
    // Ignoring a missing value would allow more rows.
    if (value === undefined) throw noRow(collection, caller, `returned no value for ${name}`)
    return condition(collection, name, value)
  })
}

/** Returns whether an item meets the conditions of a row rule. */
export function isAmong(
  collection: PublishedCollection,
  rows: readonly RowCondition[],
  item: Readonly<ItemValues>,
): boolean {
  return rows.every(({ field, value }) => {
    const declared = collection.byName.get(field) as PublishedField
    return declared.store(item[field]) === value
  })
}

/** Returns the values that the conditions require of an item. */
export function rowValues(
  collection: PublishedCollection,
  rows: readonly RowCondition[],
): ItemValues {
  const values: ItemValues = {}
  for (const { field, value } of rows) {
    values[field] = (collection.byName.get(field) as PublishedField).show(value)
  }
  return values
}

function fromData(
  collection: PublishedCollection,
  { equal, exceptRoles = [] }: RowRuleData<CollectionShape>,
  caller: Principal,
): readonly RowCondition[] {
  if (exceptRoles.some((role) => caller.roles.includes(role))) return []
  return Object.entries(equal).map(([name, value]) => {
    if (typeof value !== 'object' || value === null) return condition(collection, name, value)
    const source = value as OwnValue
    const own = ownValue(caller, source)
    if (own === null || own === undefined) {
      const needed = 'principal' in source ? 'a user' : `the attribute ${source.attribute}`
      throw noRow(collection, caller, `needs ${needed}, which the caller lacks`)
    }
    return condition(collection, name, own)
  })
}

function noRow(
  { application, name }: PublishedCollection,
  { user }: Principal,
  problem: string,
): ServiceError {
  return forbidden({ user, reason: `the row rule of ${application}/${name} ${problem}` })
}

type OwnValue = Extract<RowValue<never>, object>

function ownValue({ user, attributes }: Principal, value: OwnValue): unknown {
  if ('principal' in value) return user
  return Object.hasOwn(attributes, value.attribute) ? attributes[value.attribute] : undefined
}

function condition(collection: PublishedCollection, name: string, value: unknown): RowCondition {
  const field = collection.byName.get(name)
  if (!field?.kind.filterable) {
    throw new TypeError(
      `The row rule of ${collection.application}/${collection.name} names ${name}, which is not a field that can be filtered.`,
    )
  }
  const accepted = value === null ? null : field.accept(value)
  return { field: name, is: 'equal', value: field.store(accepted) }
}
