import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Condition, ConditionOf, Row } from './query.ts'

/** Returns whether a row meets a `through` condition. The values of its fields are not null. */
export type MeetsThrough = (
  condition: ConditionOf<'through'>,
  key: readonly NonNullable<StoredValue>[],
) => boolean

/** Returns whether a row meets all conditions. */
export function meetsAll(
  collection: PublishedCollection,
  row: Row,
  conditions: readonly Condition[],
  through: MeetsThrough = unsupported,
): boolean {
  return conditions.every((condition) => meets(collection, row, condition, through))
}

function meets(
  collection: PublishedCollection,
  row: Row,
  condition: Condition,
  through: MeetsThrough,
): boolean {
  switch (condition.is) {
    case 'equal':
      return (row[condition.field] ?? null) === condition.value
    case 'empty': {
      const value = row[condition.field] ?? null
      return value === null || value === ''
    }
    case 'and':
      return condition.conditions.every((one) => meets(collection, row, one, through))
    case 'or':
      return condition.conditions.some((one) => meets(collection, row, one, through))
    case 'not':
      return !meets(collection, row, condition.condition, through)
    case 'through': {
      const key = condition.fields.map((field) => row[field] ?? null)
      return key.every((value) => value !== null) && through(condition, key)
    }
    default: {
      const value = row[condition.field] ?? null
      return value !== null && meetsValue(collection, value, condition)
    }
  }
}

type ValueCondition = ConditionOf<'lt' | 'lte' | 'gt' | 'gte' | 'in' | 'contains' | 'startsWith'>

function meetsValue(
  { byName }: PublishedCollection,
  value: NonNullable<StoredValue>,
  condition: ValueCondition,
): boolean {
  switch (condition.is) {
    case 'in':
      return condition.values.includes(value)
    case 'contains':
      return String(value).includes(condition.text)
    case 'startsWith':
      return String(value).startsWith(condition.text)
    default: {
      const compare = byName.get(condition.field)?.kind.compare
      if (compare === undefined) throw new TypeError(`${condition.field} has no order.`)
      return orders[condition.is](compare(value, condition.value))
    }
  }
}

const orders = {
  lt: (difference: number) => difference < 0,
  lte: (difference: number) => difference <= 0,
  gt: (difference: number) => difference > 0,
  gte: (difference: number) => difference >= 0,
}

function unsupported(): never {
  throw new TypeError('A condition through another collection needs storage.')
}

/** Returns the names of the fields that a condition reads of a row, with repetitions. */
export function fieldsIn(condition: Condition): readonly string[] {
  switch (condition.is) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(fieldsIn)
    case 'not':
      return fieldsIn(condition.condition)
    case 'through':
      return condition.fields
    default:
      return [condition.field]
  }
}
