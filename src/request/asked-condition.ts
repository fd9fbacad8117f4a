import type { PublishedField } from '../definition/published-field.ts'
import type { AskedOperator } from './asked-operators.ts'
import { hasLengthWithin } from '../protocol/code-points.ts'
import { malformedQuery } from '../protocol/query.ts'
import { equal, type Condition } from './query.ts'

const maxOperators = 20
const maxValues = 100
const maxTextLength = 200

/** Throws MALFORMED_QUERY for too many conditions with operators. */
export function requireFewOperators(count: number): void {
  if (count <= maxOperators) return
  throw malformedQuery(`The query has more than ${maxOperators} conditions with operators.`)
}

/** Returns the condition of a parameter with an operator. Throws MALFORMED_QUERY for an invalid value. */
export function askedCondition(
  parameter: string,
  asked: AskedOperator,
  texts: readonly string[],
): Condition {
  const condition = fieldCondition(parameter, asked, texts)
  const { through } = asked
  if (through === undefined) return condition
  const { collection, fields } = through
  // The condition of the client is the first one: see `askedPart`.
  return { is: 'through', collection, fields, conditions: [condition, ...through.rows()] }
}

/** Returns what the caller asked for, without the row rule of another collection. */
export function askedPart(condition: Condition): Condition {
  if (condition.is !== 'through') return condition
  return { ...condition, conditions: condition.conditions.slice(0, 1) }
}

function fieldCondition(
  parameter: string,
  { field, operator }: AskedOperator,
  texts: readonly string[],
): Condition {
  const [text = ''] = texts
  const { name } = field
  switch (operator) {
    case 'eq':
      return equality(parameter, field, text)
    case 'ne':
      return not(equality(parameter, field, text))
    case 'in':
      return oneOf(parameter, field, texts)
    case 'notIn':
      return not(oneOf(parameter, field, texts))
    case 'isNull':
      if (text !== 'true' && text !== 'false')
        throw malformedQuery(`The parameter ${parameter} must be true or false.`)
      return text === 'true' ? equal(name, null) : not(equal(name, null))
    case 'contains':
    case 'startsWith':
      if (!hasLengthWithin(text, 0, maxTextLength))
        throw malformedQuery(
          `The parameter ${parameter} must have at most ${maxTextLength} characters.`,
        )
      return { field: name, is: operator, text: storedValue(parameter, field, text) as string }
    default:
      return { field: name, is: operator, value: storedValue(parameter, field, text) }
  }
}

/** Returns the condition that a field equals the value of a parameter: without a value, that it has none. */
export function equality(parameter: string, field: PublishedField, text: string): Condition {
  const { name } = field
  return text === ''
    ? { field: name, is: 'empty' }
    : equal(name, storedValue(parameter, field, text))
}

function oneOf(parameter: string, field: PublishedField, texts: readonly string[]): Condition {
  if (texts.length > maxValues)
    throw malformedQuery(`The parameter ${parameter} has more than ${maxValues} values.`)
  const values = new Set<NonNullable<ReturnType<typeof storedValue>>>()
  for (const text of texts) {
    if (text !== '') values.add(storedValue(parameter, field, text))
  }
  const list: Condition = { field: field.name, is: 'in', values: [...values] }
  if (!texts.includes('')) return list
  const empty: Condition = { field: field.name, is: 'empty' }
  return values.size === 0 ? empty : { is: 'or', conditions: [list, empty] }
}

function storedValue(
  parameter: string,
  field: PublishedField,
  text: string,
): string | number | boolean {
  const value = field.storeText(text)
  if (value !== undefined && value !== null) return value
  throw malformedQuery(`The parameter ${parameter} must be ${field.mustBe}, in canonical form.`)
}

function not(condition: Condition): Condition {
  return { is: 'not', condition }
}
