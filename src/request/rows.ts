import { describe, isPlainObject } from '../checks/plain-object.ts'
import type { Through } from '../definition/conditions.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { Principal } from '../definition/principal.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { isOwnValue, type OwnValue, type RowRuleData } from '../definition/rights.ts'
import { throughFields, throughMistake } from '../definition/through.ts'
import { forbidden, isServiceError, type ServiceError } from '../errors.ts'
import { givenConditions, type ConditionTerms } from './given-conditions.ts'
import { fieldsIn, meetsAll } from './meets.ts'
import type { Condition, ConditionOf, ItemValues, Row } from './query.ts'
import { requireRight } from './roles.ts'
import { unknown, whenTrue } from './row-truth.ts'

/**
 * Returns the conditions of the row rule for a caller; without conditions, all rows. Throws FORBIDDEN if
 * the rule allows no rows, and a TypeError if it returns anything but conditions, true or false.
 */
export function rowsOf(collection: PublishedCollection, caller: Principal): readonly Condition[] {
  return collection.rows === undefined ? [] : ruledRows(collection, caller, []).map(whenTrue)
}

/**
 * Returns the conditions of the row rule as they are written, with three values. `path` has the collections whose
 * rules go through this one.
 */
function ruledRows(
  collection: PublishedCollection,
  caller: Principal,
  path: readonly PublishedCollection[],
): readonly Condition[] {
  const rule = collection.rows
  if (rule === undefined) return []
  if (typeof rule !== 'function') return fromData(collection, rule, caller, path)
  const answer: unknown = rule(caller)
  if (answer === true) return []
  if (answer === false) throw noRow(collection, caller, 'returned false')
  // An unhandled rejection would end the process.
  if (answer instanceof Promise) answer.catch(() => undefined)
  // An empty object would allow all rows by mistake. A rule returns true for that.
  if (!isPlainObject(answer) || Object.keys(answer).length === 0) {
    const found = isPlainObject(answer) ? 'an empty object.' : describe(answer)
    throw new TypeError(
      `${ruleOf(collection)} must return conditions, true or false: it returned ${found}`,
    )
  }
  const replaced = (value: unknown, name: string): unknown => {
    // Ignoring a missing value would allow more rows.
    if (value === undefined) throw noRow(collection, caller, `returned no value for ${name}`)
    return value
  }
  return givenConditions(termsOf(collection, caller, path, replaced), answer)
}

function fromData(
  collection: PublishedCollection,
  { equal = {}, where = {}, through = [], exceptRoles = [] }: RowRuleData<CollectionShape>,
  caller: Principal,
  path: readonly PublishedCollection[],
): readonly Condition[] {
  if (exceptRoles.some((role) => caller.roles.includes(role))) return []
  const replaced = (value: unknown): unknown => {
    if (!isOwnValue(value)) return value
    const own = ownValue(caller, value)
    if (own !== null && own !== undefined) return own
    const needed = 'principal' in value ? 'a user' : `the attribute ${value.attribute}`
    throw noRow(collection, caller, `needs ${needed}, which the caller lacks`)
  }
  const terms = termsOf(collection, caller, path, replaced)
  const parents = Array.isArray(through) ? through : [through]
  const conditions = [...givenConditions(terms, equal), ...givenConditions(terms, where)]
  return parents.length === 0
    ? conditions
    : [...conditions, ...parents.map((one: Through) => throughRows(collection, caller, path, one))]
}

function termsOf(
  collection: PublishedCollection,
  caller: Principal,
  path: readonly PublishedCollection[],
  replaced: (value: unknown, name: string) => unknown,
): ConditionTerms {
  return {
    collection,
    call: ruleOf(collection),
    fieldOf: (name) => comparedField(collection, name),
    replaced,
    through(given, isAlone) {
      try {
        return throughRows(collection, caller, path, given as Through)
      } catch (error) {
        // Another condition of the rule may still allow rows.
        if (isAlone || !isServiceError(error) || error.code !== 'FORBIDDEN') throw error
        return unknown
      }
    },
  }
}

/** Returns the condition that the row of another collection is one that the caller may read. */
function throughRows(
  collection: PublishedCollection,
  caller: Principal,
  path: readonly PublishedCollection[],
  given: Through,
): Condition {
  const { name, definition } = collection
  const other = collection.siblings.get(given.collection)
  const mistake = throughMistake(definition, given, other?.definition)
  if (mistake !== undefined || other === undefined) {
    const { place = 'collection', advice = '' } = mistake ?? {}
    throw new TypeError(`${ruleOf(collection)}: through.${place}: ${advice}`)
  }
  if (other === collection || path.includes(other)) {
    throw new TypeError(
      `${ruleOf(collection)} goes through ${other.name}, whose own rule goes through ${name}.`,
    )
  }
  requireRight(other, 'Filter', caller)
  const conditions = ruledRows(other, caller, [...path, collection])
  return { is: 'through', collection: other, fields: throughFields(given), conditions }
}

/** Returns the `through` conditions among conditions on rows of one collection. */
export function throughIn(conditions: readonly Condition[]): readonly ConditionOf<'through'>[] {
  return conditions.flatMap((condition) => {
    switch (condition.is) {
      case 'through':
        return [condition]
      case 'and':
      case 'or':
        return throughIn(condition.conditions)
      case 'not':
        return throughIn([condition.condition])
      default:
        return []
    }
  })
}

/** Returns whether an item meets the conditions of a row rule. `met` has the `through` conditions that it meets. */
export function isAmong(
  collection: PublishedCollection,
  rows: readonly Condition[],
  item: Readonly<ItemValues>,
  met: ReadonlySet<Condition> = noConditions,
): boolean {
  if (rows.length === 0) return true
  const row: Record<string, StoredValue> = {}
  for (const condition of rows) {
    for (const name of fieldsIn(condition)) row[name] = storedIn(collection, item, name)
  }
  return meetsAll(collection, row, rows, (condition) => met.has(condition))
}

const noConditions: ReadonlySet<Condition> = new Set()

/** Returns the stored form of a value of an item. */
export function storedIn(
  collection: PublishedCollection,
  item: Readonly<ItemValues>,
  name: string,
): StoredValue {
  return (collection.byName.get(name) as PublishedField).store(item[name])
}

/** Returns the values that the equalities of a row rule require of an item. */
export function rowValues(rows: readonly Condition[]): Row {
  const values: Record<string, StoredValue> = {}
  for (const condition of rows) {
    if (condition.is === 'equal') values[condition.field] = condition.value
  }
  return values
}

function noRow(
  { application, name }: PublishedCollection,
  { user }: Principal,
  problem: string,
): ServiceError {
  return forbidden({ user, reason: `the row rule of ${application}/${name} ${problem}` })
}

function ownValue({ user, attributes }: Principal, value: OwnValue): unknown {
  if ('principal' in value) return user
  return Object.hasOwn(attributes, value.attribute) ? attributes[value.attribute] : undefined
}

function ruleOf({ application, name }: PublishedCollection): string {
  return `The row rule of ${application}/${name}`
}

function comparedField(collection: PublishedCollection, name: string): PublishedField {
  const field = collection.byName.get(name)
  if (field?.kind.filterable === true) return field
  throw new TypeError(
    `${ruleOf(collection)} names ${name}, which is not a field that can be filtered.`,
  )
}
