import type { RelatedOperatorName } from '../definition/operators.ts'
import type { JsonSchema } from '../definition/schema.ts'
import type { AskedOperator } from '../request/asked-operators.ts'
import { fieldSchema } from './field-schema.ts'

const meanings: Readonly<Record<RelatedOperatorName, (name: string) => string>> = {
  eq: (name) => `${name} equals this`,
  ne: (name) => `${name} does not equal this, or that have no ${name}`,
  in: (name) => `${name} equals one of these`,
  notIn: (name) => `${name} equals none of these, or that have no ${name}`,
  isNull: (name) => `${name} is null, or is not`,
  lt: (name) => `${name} comes before this`,
  lte: (name) => `${name} comes before this or equals it`,
  gt: (name) => `${name} comes after this`,
  gte: (name) => `${name} comes after this or equals it`,
  contains: (name) => `${name} contains this string`,
  startsWith: (name) => `${name} starts with this string`,
}

const maxValues = 100
const textPart: JsonSchema = { type: 'string', maxLength: 200 }

/** Returns the parameters that compare a field by an operator. Their names are literal: another form has no clients. */
export function operatorParameters(
  operators: ReadonlyMap<string, AskedOperator>,
): readonly JsonSchema[] {
  return Array.from(operators, ([name, { field, operator, isList }]) => {
    const compared = operator === 'eq' ? name : name.slice(0, -operator.length - 1)
    const described = {
      name,
      in: 'query',
      description: `Items whose ${meanings[operator](compared)}.`,
    }
    if (operator === 'isNull') return { ...described, schema: { type: 'boolean' } }
    if (operator === 'contains' || operator === 'startsWith')
      return { ...described, schema: textPart }
    const schema = fieldSchema(field, 'target')
    if (isList) {
      const list = { type: 'array', minItems: 1, maxItems: maxValues, items: schema }
      return { ...described, schema: list, style: 'form', explode: true }
    }
    // A value between those of an enumeration can be compared as well.
    const { enum: _values, ...any } = schema
    return { ...described, schema: operator === 'ne' || operator === 'eq' ? schema : any }
  })
}
