import { keyNamesOf, type CollectionDefinition } from './collection.ts'
import { fieldOf } from './field.ts'
import {
  indexedOperators,
  operatorsFor,
  type OperatorName,
  type RelatedOperatorName,
} from './operators.ts'
import type { PublishedField } from './published-field.ts'
import {
  declaredReferences,
  isReferenceBy,
  isReversed,
  type DeclaredReference,
} from './relations.ts'

/** A parameter that compares a field by an operator. */
export interface PublishedOperator {
  readonly field: PublishedField
  readonly operator: RelatedOperatorName
  /** Whether the parameter can be repeated, for several values. */
  readonly isList: boolean
}

/** The parameters of a collection that compare a field by an operator, by their names. */
export interface OperatorParameters {
  /** Those that compare a field of the collection, such as `price.gte`. */
  readonly operators: ReadonlyMap<string, PublishedOperator>
  /** Those that compare a field of a referenced item, such as `customer.city.in`. */
  readonly related: ReadonlyMap<string, RelatedOperator>
}

/** Returns the names of the fields that lead an index, a unique group or the key. */
export function leadingFields(collection: CollectionDefinition): readonly string[] {
  const { fields, unique = [], index = [] } = collection
  const single = Object.keys(fields).filter((name) => fieldOf(fields, name)?.unique === true)
  const groups = [keyNamesOf(collection), ...unique, ...index]
  const leading = groups.flatMap(([first = '']) => first.replace(/^-/, ''))
  return [...new Set([...single, ...leading])].filter((name) => Object.hasOwn(fields, name))
}

/** Returns the parameters of a checked definition that compare a field by an operator. */
export function publishOperators(
  definition: CollectionDefinition,
  byName: ReadonlyMap<string, PublishedField>,
): OperatorParameters {
  if (definition.operators === undefined) return none
  const operators = new Map<string, PublishedOperator>()
  for (const field of byName.values()) {
    for (const operator of namedOperators(definition, field)) {
      const isList = isListOperator(operator)
      operators.set(`${field.name}.${operator}`, Object.freeze({ field, operator, isList }))
    }
  }
  return { operators, related: publishRelated(definition, byName) }
}

function namedOperators(
  collection: CollectionDefinition,
  { name, definition }: PublishedField,
): readonly OperatorName[] {
  const { operators } = collection
  const fitting = operatorsFor(definition)
  if (operators === true || operators === undefined) return fitting
  if (operators !== 'indexed') {
    const given = Object.hasOwn(operators, name) ? operators[name] : undefined
    return (given ?? []) as readonly OperatorName[]
  }
  if (!leadingFields(collection).includes(name)) return []
  return fitting.filter((operator) =>
    (indexedOperators as readonly OperatorName[]).includes(operator),
  )
}

const none: OperatorParameters = { operators: new Map(), related: new Map() }

/** Returns the parameters that need only some of the fields. */
export function operatorsOf(
  { operators, related }: OperatorParameters,
  fields: readonly PublishedField[],
): OperatorParameters {
  if (operators.size + related.size === 0) return none
  const own = new Set(fields)
  const isReadable = (field: PublishedField): boolean => own.has(field)
  return {
    operators: new Map([...operators].filter(([, { field }]) => isReadable(field))),
    related: new Map([...related].filter(([, one]) => one.fields.every(isReadable))),
  }
}

/** A parameter that compares a field of a referenced item. Which callers have it depends on the other collection. */
export interface RelatedOperator extends Pick<PublishedOperator, 'operator' | 'isList'> {
  /** The fields of the reference, in the order of the key of the other collection. */
  readonly fields: readonly PublishedField[]
  /** The name of the other collection. */
  readonly collection: string
  /** The name of its field. */
  readonly name: string
}

function publishRelated(
  definition: CollectionDefinition,
  byName: ReadonlyMap<string, PublishedField>,
): ReadonlyMap<string, RelatedOperator> {
  const published = new Map<string, RelatedOperator>()
  const { operators } = definition
  for (const [key, given = []] of Object.entries(typeof operators === 'object' ? operators : {})) {
    const [relation = '', name] = key.split('.')
    const reference = referenceOf(definition, relation)
    if (name === undefined || reference === undefined) continue
    const { collection } = reference
    const fields = reference.fields.map((one) => byName.get(one) as PublishedField)
    for (const operator of given) {
      const isList = isListOperator(operator)
      const parameter = operator === 'eq' ? key : `${key}.${operator}`
      published.set(parameter, Object.freeze({ fields, collection, name, operator, isList }))
    }
  }
  return published
}

/** Returns the reference that a relation names; undefined if there is none. */
export function referenceOf(
  definition: CollectionDefinition,
  relation: string,
): DeclaredReference | undefined {
  const relations = namedReferences(definition)
  const given = Object.hasOwn(relations, relation) ? relations[relation] : undefined
  if (given === undefined) return undefined
  return declaredReferences(definition).find(({ fields }) => isReferenceBy(fields, given))
}

/** Returns the names of the references of a definition: those of `relations`, and those that `expand` has. */
export function namedReferences({
  relations = {},
  expand = {},
}: CollectionDefinition): Readonly<Record<string, string | readonly string[]>> {
  const expanded = Object.entries(expand).flatMap(([name, declared]) =>
    isReversed(declared) ? [] : [[name, declared] as const],
  )
  return { ...Object.fromEntries(expanded), ...relations }
}

function isListOperator(operator: RelatedOperatorName): boolean {
  return operator === 'in' || operator === 'notIn'
}
