import { keyNamesOf, type CollectionDefinition } from './collection.ts'
import { fieldOf } from './field.ts'
import { indexedOperators, operatorsFor, type OperatorName } from './operators.ts'
import type { PublishedField } from './published-field.ts'

/** A parameter that compares a field by an operator. */
export interface PublishedOperator {
  readonly field: PublishedField
  readonly operator: OperatorName
  /** Whether the parameter can be repeated, for several values. */
  readonly isList: boolean
}

/** Returns the names of the fields that lead an index, a unique group or the key. */
export function leadingFields(collection: CollectionDefinition): readonly string[] {
  const { fields, unique = [], index = [] } = collection
  const single = Object.keys(fields).filter((name) => fieldOf(fields, name)?.unique === true)
  const groups = [keyNamesOf(collection), ...unique, ...index]
  const leading = groups.flatMap(([first = '']) => first.replace(/^-/, ''))
  return [...new Set([...single, ...leading])].filter((name) => Object.hasOwn(fields, name))
}

/** Returns the operators of a checked definition by the names of their parameters, such as `price.gte`. */
export function publishOperators(
  definition: CollectionDefinition,
  byName: ReadonlyMap<string, PublishedField>,
): ReadonlyMap<string, PublishedOperator> {
  const { operators } = definition
  if (operators === undefined) return none
  const published = new Map<string, PublishedOperator>()
  for (const field of byName.values()) {
    for (const operator of namedOperators(definition, field)) {
      const isList = operator === 'in' || operator === 'notIn'
      published.set(`${field.name}.${operator}`, Object.freeze({ field, operator, isList }))
    }
  }
  return published
}

function namedOperators(
  collection: CollectionDefinition,
  { name, definition }: PublishedField,
): readonly OperatorName[] {
  const { operators } = collection
  const fitting = operatorsFor(definition)
  if (operators === true || operators === undefined) return fitting
  if (operators !== 'indexed') return Object.hasOwn(operators, name) ? (operators[name] ?? []) : []
  if (!leadingFields(collection).includes(name)) return []
  return fitting.filter((operator) =>
    (indexedOperators as readonly OperatorName[]).includes(operator),
  )
}

const none: ReadonlyMap<string, PublishedOperator> = new Map()

/** Returns the operators of some of the fields. */
export function operatorsOf(
  operators: ReadonlyMap<string, PublishedOperator>,
  fields: readonly PublishedField[],
): ReadonlyMap<string, PublishedOperator> {
  if (operators.size === 0) return operators
  const own = new Set(fields)
  return new Map([...operators].filter(([, { field }]) => own.has(field)))
}
