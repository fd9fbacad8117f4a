import type { Mistake } from '../../checks/mistakes.ts'
import { listed, suggestion } from '../../checks/nearest-name.ts'
import type { ApplicationDefinition } from '../application.ts'
import type { CollectionDefinition } from '../collection.ts'
import { unlisted } from '../expansions.ts'
import { fieldOf, type Field } from '../field.ts'
import { operatorsFor, type RelatedOperatorName } from '../operators.ts'
import { publishableEvents } from '../serve.ts'
import { leadingFields, referenceOf, namedReferences } from '../published-operators.ts'
import type { DeclaredReference } from '../relations.ts'
import { isServed } from '../serve.ts'
import { throughMistake } from '../through.ts'

/** Returns the mistakes in the operators of a well-formed collection. */
export function operatorMistakes(collection: CollectionDefinition): readonly Mistake[] {
  const { operators } = collection
  if (operators === undefined || operators === true) return []
  if (operators !== 'indexed') {
    const own = Object.entries(operators).filter(([name]) => !name.includes('.'))
    return own.flatMap(([name, given = []]) =>
      fieldMistakes(collection, name, given).map((advice) => ({
        place: `operators.${name}`,
        advice,
      })),
    )
  }
  if (isServed(collection)) {
    const advice = 'a served collection has no indexes: list the operators of each field'
    return [{ place: 'operators', advice }]
  }
  if (leadingFields(collection).length > 0) return []
  const advice = 'there is no key, unique group or index: declare one, or list operators by field'
  return [{ place: 'operators', advice }]
}

function fieldMistakes(
  { fields, computed = {} }: CollectionDefinition,
  name: string,
  given: readonly RelatedOperatorName[],
): readonly string[] {
  const field = fieldOf(fields, name)
  if (field === undefined) {
    return Object.hasOwn(computed, name)
      ? [`${name} is a computed field, which conditions cannot name: leave it out`]
      : [`${name} is not a field; ${suggestion(name, Object.keys(fields), 'fields')}`]
  }
  return unfitMistakes(field, name, given, operatorsFor(field))
}

function unfitMistakes(
  field: Field,
  name: string,
  given: readonly RelatedOperatorName[],
  fitting: readonly RelatedOperatorName[],
): readonly string[] {
  if (operatorsFor(field).length === 0) {
    const why = field.itemOnly === true ? 'pages leave it out' : `it is a ${field.type} field`
    return [`${name} cannot be filtered, because ${why}: leave it out`]
  }
  const unfit = given.filter((operator) => !fitting.includes(operator))
  const repeated = new Set(given).size < given.length ? ['name each operator once'] : []
  return [
    ...unfit.map(
      (operator) =>
        `${operator} does not apply to a field of type ${field.type}; its operators are ${listed(fitting)}`,
    ),
    ...repeated,
  ]
}

/** Returns the mistakes in the relations of a well-formed collection, and in the operators that they lead to. */
export function relatedMistakes(
  { collections }: ApplicationDefinition,
  collection: CollectionDefinition,
): readonly Mistake[] {
  const { relations = {}, expand = {}, fields, computed = {} } = collection
  const named = namedReferences(collection)
  const mistakes: Mistake[] = []
  const add = (place: string, advice: string): void => {
    mistakes.push({ place, advice })
  }
  for (const relation of Object.keys(relations)) {
    const place = `relations.${relation}`
    if (Object.hasOwn(fields, relation) || Object.hasOwn(computed, relation))
      add(place, `${relation} is a field: choose another name`)
    else if (referenceOf(collection, relation) === undefined)
      add(place, 'must name the field, or the fields, of a reference of the collection')
    else if (Object.hasOwn(expand, relation))
      add(place, `leave it out: expand names ${relation} already`)
  }
  const { operators } = collection
  if (typeof operators !== 'object') return mistakes
  for (const [key, given = []] of Object.entries(operators)) {
    const [relation = '', ...rest] = key.split('.')
    if (rest.length === 0) continue
    const place = `operators.${key}`
    const reference = referenceOf(collection, relation)
    if (!Object.hasOwn(named, relation))
      add(
        place,
        `${relation} is not a relation; ${suggestion(relation, Object.keys(named), 'relations')}`,
      )
    if (reference === undefined) continue
    const { collection: target } = reference
    const to = Object.hasOwn(collections, target) ? collections[target] : undefined
    if (to === undefined) continue
    for (const advice of [
      ...unlisted(collection, reference),
      ...targetMistakes(collection, reference, to),
    ])
      add(place, advice)
    const field = fieldOf(to.fields, rest.join('.'))
    if (field === undefined)
      add(
        place,
        `${rest.join('.')} is not a field of ${target}; ${suggestion(rest.join('.'), Object.keys(to.fields), 'fields')}`,
      )
    else
      for (const advice of unfitMistakes(field, key, given, ['eq', ...operatorsFor(field)]))
        add(place, advice)
  }
  return mistakes
}

/** Returns why conditions can't lead to the items of another collection. */
function targetMistakes(
  collection: CollectionDefinition,
  { fields, collection: target }: DeclaredReference,
  to: CollectionDefinition,
): readonly string[] {
  const mistake = throughMistake(collection, { fields, collection: target }, to)
  if (mistake !== undefined) return [mistake.advice]
  const published = to.publishes ?? publishableEvents(to)
  if (!published.includes('Filter'))
    return [`${target} does not publish Filter, so clients cannot read it: leave it out`]
  // A handler may hide items, and is not part of a condition.
  const { before, after } = to.events?.Filter ?? {}
  return before === undefined && after === undefined
    ? []
    : [
        `${target} has a handler of Filter, which conditions on its items would not call: leave it out`,
      ]
}
