import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Json } from '../protocol/json.ts'
import type { Condition, ConditionOf } from './query.ts'

type Shown = Record<string, unknown>

/** The conditions of a query as application code writes them. */
export interface ShownConditions {
  /** The values that fields must have. Null: no value, or the empty string. */
  readonly conditions: Readonly<Record<string, Json>>
  /** The other conditions. Undefined: there are none. */
  readonly where: Readonly<Shown> | undefined
}

/**
 * Returns the conditions of a query as application code writes them, or undefined if two equalities contradict
 * each other, so that no item can match: for instance of a request and of the row rule of its caller.
 */
export function shownConditions(
  collection: PublishedCollection,
  conditions: readonly Condition[],
): ShownConditions | undefined {
  const byField = new Map<string, PlainCondition>()
  const others: Condition[] = []
  for (const condition of conditions) {
    if (!isPlain(condition)) {
      others.push(condition)
      continue
    }
    const other = byField.get(condition.field)
    const both = other === undefined ? condition : bothOf(other, condition)
    if (both === undefined) return undefined
    byField.set(condition.field, both)
  }
  const values: Record<string, Json> = {}
  for (const [name, condition] of byField) {
    values[name] = condition.is === 'empty' ? null : valueOf(collection, name, condition.value)
  }
  if (others.length === 0) return { conditions: values, where: undefined }
  const where: Shown = {}
  for (const condition of others) add(where, shownCondition(collection, condition))
  return { conditions: values, where }
}

/** Adds a condition of one member: beside the others if there is none of its name, else to `and`. */
function add(shown: Shown, condition: Shown): void {
  for (const [name, value] of Object.entries(condition)) {
    if (!Object.hasOwn(shown, name)) shown[name] = value
    else if (name === 'and' && Array.isArray(shown[name])) {
      shown[name] = [...(shown[name] as readonly Shown[]), ...(value as readonly Shown[])]
    } else add(shown, { and: [{ [name]: value }] })
  }
}

function shownCondition(collection: PublishedCollection, condition: Condition): Shown {
  switch (condition.is) {
    case 'and':
    case 'or':
      return {
        [condition.is]: condition.conditions.map((one) => shownCondition(collection, one)),
      }
    case 'not':
      return { not: [shownCondition(collection, condition.condition)] }
    case 'through':
      throw new TypeError('A served collection has no rows of another collection.')
    case 'empty':
      return { [condition.field]: { in: ['', null] } }
    default:
      return { [condition.field]: operatorOf(collection, condition) }
  }
}

function operatorOf(
  collection: PublishedCollection,
  condition: ConditionOf<'equal' | 'in' | 'contains' | 'startsWith' | 'lt' | 'lte' | 'gt' | 'gte'>,
): unknown {
  const { field, is } = condition
  switch (is) {
    case 'equal':
      return valueOf(collection, field, condition.value)
    case 'in':
      return { in: condition.values.map((value) => valueOf(collection, field, value)) }
    case 'contains':
    case 'startsWith':
      return { [is]: condition.text }
    default:
      return { [is]: valueOf(collection, field, condition.value) }
  }
}

function valueOf({ byName }: PublishedCollection, name: string, value: StoredValue): Json {
  return (byName.get(name) as PublishedField).show(value)
}

type PlainCondition = ConditionOf<'equal' | 'empty'>

function isPlain(condition: Condition): condition is PlainCondition {
  return condition.is === 'equal' || condition.is === 'empty'
}

/** Returns the condition that is met if and only if both are met; undefined if that is impossible. */
function bothOf(one: PlainCondition, other: PlainCondition): PlainCondition | undefined {
  if (one.is === 'empty') return other.is === 'empty' || isEmpty(other.value) ? other : undefined
  if (other.is === 'empty') return isEmpty(one.value) ? one : undefined
  return one.value === other.value ? one : undefined
}

function isEmpty(value: StoredValue): boolean {
  return value === null || value === ''
}
