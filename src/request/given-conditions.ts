import { describe, requirePlainObject, type PlainObject } from '../checks/plain-object.ts'
import { isThrough } from '../definition/conditions.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { equal, type Condition } from './query.ts'

/** How conditions of application code are resolved. */
export interface ConditionTerms {
  readonly collection: PublishedCollection
  /** The call or rule that has received the conditions, for messages. */
  readonly call: string
  /** Returns a field that conditions may name. Throws for any other name. */
  readonly fieldOf: (name: string) => PublishedField
  /** Returns the value that a field is compared with. Default: the value as given. */
  readonly replaced?: (value: unknown, name: string) => unknown
  /** Resolves a condition through another collection. Absent: there is none. */
  readonly through?: (given: object, isAlone: boolean) => Condition
}

const maxDepth = 10
const maxConditions = 500
const maxValues = 10_000
const groups = ['and', 'or', 'not']

/**
 * Resolves conditions of application code. Throws a TypeError for unknown operators, invalid values, objects that are
 * not plain, and for more than 500 conditions or ten levels. A value that is undefined is invalid: ignoring it, or the
 * members that the keys of an object do not show, would select more items than were meant.
 */
export function givenConditions(terms: ConditionTerms, given: unknown): readonly Condition[] {
  requirePlainObject('The conditions', given, terms.call)
  return conditionsIn({ terms, count: 0 }, given as PlainObject, 1)
}

interface Work {
  readonly terms: ConditionTerms
  /** The number of conditions so far. */
  count: number
}

function conditionsIn(work: Work, given: PlainObject, depth: number): readonly Condition[] {
  if (depth > maxDepth) throw new TypeError(`Conditions may have at most ${maxDepth} levels.`)
  const { collection, call, through } = work.terms
  const names = Object.keys(given)
  work.count += names.length
  if (work.count > maxConditions) {
    throw new TypeError(
      `There may be at most ${maxConditions} conditions. Use in for a list of values.`,
    )
  }
  return names.flatMap((name) => {
    const value = given[name]
    const isField = collection.byName.has(name)
    if (groups.includes(name) && (Array.isArray(value) || !isField)) {
      return groupOf(work, name, value, depth)
    }
    if (name === 'through' && through !== undefined && (namesCollection(value) || !isField)) {
      const all: readonly unknown[] = Array.isArray(value) ? value : [value]
      return Array.from(all, (one) => {
        requirePlainObject('The condition through', one, call)
        return through(one, depth === 1)
      })
    }
    return fieldConditions(work.terms, name, value)
  })
}

function namesCollection(value: unknown): boolean {
  return Array.isArray(value) || isThrough(value)
}

function groupOf(work: Work, name: string, value: unknown, depth: number): readonly Condition[] {
  const { call } = work.terms
  const inner = (given: unknown): Condition => {
    requirePlainObject(`A condition in ${name}`, given, call)
    return both(conditionsIn(work, given as PlainObject, depth + 1))
  }
  if (!Array.isArray(value)) {
    if (name === 'not' && typeof value === 'object' && value !== null) return [not(inner(value))]
    const form = name === 'not' ? 'conditions, or a list of conditions' : 'a list of conditions'
    throw new TypeError(`${name} must be ${form}: ${call} received ${describe(value)}`)
  }
  // A gap of a list is undefined, and not one condition less.
  const all = Array.from(value, inner)
  if (name === 'and') return all
  return [name === 'or' ? or(all) : not(or(all))]
}

function fieldConditions(
  terms: ConditionTerms,
  name: string,
  value: unknown,
): readonly Condition[] {
  const field = terms.fieldOf(name)
  const own = (given: unknown): unknown => terms.replaced?.(given, name) ?? given
  const given = own(value)
  // Operators come only from the condition itself, never from values that replace a part of it.
  if (typeof given !== 'object' || given === null || Array.isArray(given) || given !== value) {
    return [equalTo(field, given)]
  }
  requirePlainObject(`The condition on ${name}`, given, terms.call)
  const operators = Object.keys(given)
  if (operators.length === 0) {
    throw new TypeError(`The condition on ${name} needs an operator, such as { gte: ... }.`)
  }
  return operators.map((operator) => {
    const operand = (given as PlainObject)[operator]
    return operation(
      field,
      operator,
      Array.isArray(operand) ? Array.from(operand, own) : own(operand),
    )
  })
}

function operation(field: PublishedField, operator: string, operand: unknown): Condition {
  const { name } = field
  switch (operator) {
    case 'eq':
      return equalTo(field, operand)
    case 'ne':
      return not(equalTo(field, operand))
    case 'lt':
    case 'lte':
    case 'gt':
    case 'gte': {
      const value = storedValue(field, operand)
      return { field: name, is: operator, value }
    }
    case 'in':
      return oneOf(field, operator, operand)
    case 'notIn':
      return not(oneOf(field, operator, operand))
    case 'contains':
    case 'startsWith': {
      if (field.type !== 'text') {
        throw new TypeError(
          `${operator} applies to fields of type text, and ${name} is of type ${field.type}.`,
        )
      }
      return { field: name, is: operator, text: storedValue(field, operand) as string }
    }
    case 'isNull': {
      if (typeof operand !== 'boolean') {
        throw new TypeError(`isNull of ${name} must be true or false.`)
      }
      return operand ? equal(name, null) : not(equal(name, null))
    }
    default:
      throw new TypeError(
        `The condition on ${name} has an unknown operator ${operator}. The operators are ${operators}.`,
      )
  }
}

const operators = 'eq, ne, lt, lte, gt, gte, in, notIn, contains, startsWith and isNull'

function oneOf(field: PublishedField, operator: string, given: unknown): Condition {
  if (!Array.isArray(given) || given.length > maxValues) {
    throw new TypeError(`${operator} of ${field.name} must be a list of at most 10,000 values.`)
  }
  const present = given.filter((value: unknown) => value !== null)
  const values = present.map((value: unknown) => storedValue(field, value))
  const list: Condition = { field: field.name, is: 'in', values }
  return present.length === given.length ? list : or([list, equal(field.name, null)])
}

function equalTo(field: PublishedField, value: unknown): Condition {
  return equal(field.name, value === null ? null : storedValue(field, value))
}

function storedValue(field: PublishedField, value: unknown): string | number | boolean {
  return field.accept(value) as string | number | boolean
}

function both(conditions: readonly Condition[]): Condition {
  const [first] = conditions
  return conditions.length === 1 && first !== undefined ? first : { is: 'and', conditions }
}

function or(conditions: readonly Condition[]): Condition {
  return { is: 'or', conditions }
}

function not(condition: Condition): Condition {
  return { is: 'not', condition }
}
