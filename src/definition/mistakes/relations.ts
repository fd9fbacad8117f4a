import type { ApplicationDefinition } from '../application.ts'
import { maxListedMistakes, type Mistake } from '../../checks/mistakes.ts'
import { listed, suggestion } from '../../checks/nearest-name.ts'
import { circlesOf } from './circles.ts'
import { keyNamesOf, type CollectionDefinition } from '../collection.ts'
import { fieldOf, type Field } from '../field.ts'
import { fieldTypes } from '../field-type.ts'
import { declaredReferences, type DeclaredReference } from '../relations.ts'
import { isServed } from '../serve.ts'

/** Returns the mistakes in the unique groups and the indexes of a well-formed collection. */
export function groupMistakes(collection: CollectionDefinition): readonly Mistake[] {
  const { fields, unique = [], index = [] } = collection
  const mistakes: Mistake[] = []
  const add = (place: string, advice: string): void => {
    mistakes.push({ place, advice })
  }
  const seen = new Map<string, string>()
  const addUnique = (names: readonly string[], place: string): void => {
    const group = groupName(names)
    const other = seen.get(group)
    if (group === groupName(keyNamesOf(collection)))
      add(place, 'leave it out: the key is unique already')
    else if (other !== undefined) add(place, `leave it out: ${other} has the same fields`)
    seen.set(group, place)
  }
  for (const [name, field] of Object.entries(fields)) {
    if (field.onDelete !== undefined && field.references === undefined)
      add(`fields.${name}.onDelete`, 'needs references: add it, or leave onDelete out')
    if (field.unique !== true) continue
    const place = `fields.${name}.unique`
    if (isServed(collection)) add(place, 'a served collection has no table: leave it out')
    else if (fieldTypes[field.type].filterable) addUnique([name], place)
    else add(place, `a ${field.type} field cannot be unique`)
  }
  for (const [option, groups] of Object.entries({ unique, index })) {
    if (groups.length > 0 && isServed(collection))
      add(option, 'a served collection has no table: leave it out')
    for (const [position, names] of groups.entries()) {
      if (mistakes.length >= maxListedMistakes) return mistakes
      const place = `${option}.${position}`
      const plain = option === 'index' ? names.map((name) => name.replace(/^-/, '')) : names
      const wrong = namesMistakes(fields, plain)
      for (const advice of wrong) add(place, advice)
      if (option === 'unique' && wrong.length === 0) addUnique(names, place)
    }
  }
  return mistakes
}

function namesMistakes(
  fields: CollectionDefinition['fields'],
  names: readonly string[],
): readonly string[] {
  const wrong: string[] = []
  for (const name of names) {
    const field = fieldOf(fields, name)
    if (field === undefined)
      wrong.push(`${name} is not a field; ${nearest(name, fields, 'fields')}`)
    else if (!fieldTypes[field.type].filterable)
      wrong.push(`${name} cannot be used here: it is a ${field.type} field`)
    if (wrong.length >= maxListedMistakes) return wrong
  }
  return new Set(names).size < names.length ? [...wrong, 'name each field once'] : wrong
}

/** Returns the mistakes in the references of a well-formed collection. */
export function referenceMistakes(
  { collections }: ApplicationDefinition,
  collection: CollectionDefinition,
): readonly Mistake[] {
  const seen = new Set<string>()
  const mistakes: Mistake[] = []
  for (const declared of declaredReferences(collection)) {
    for (const mistake of mistakesOf(declared)) mistakes.push(mistake)
    if (mistakes.length >= maxListedMistakes) break
  }
  return mistakes

  function mistakesOf(declared: DeclaredReference): readonly Mistake[] {
    const advice = (text: string): readonly Mistake[] => [
      { place: declared.places.collection, advice: text },
    ]
    if (isServed(collection))
      return advice('a served collection cannot have references: leave it out')
    const { collection: target, fields } = declared
    const to = Object.hasOwn(collections, target) ? collections[target] : undefined
    if (to === undefined) {
      const known = nearest(target, collections, 'collections')
      return advice(`${target} is not a collection of the application; ${known}`)
    }
    if (isServed(to))
      return advice(`${target} is served by functions: refer to a stored collection`)
    const key = keyNamesOf(to)
    if (key.length === 0) return advice(`${target} has no key: refer to a collection with a key`)
    if (key.length !== fields.length) {
      const how =
        key.length === 1
          ? 'one field'
          : `${key.length} fields, in the option references of the collection`
      return advice(`${target} has the key ${listed(key)}: refer to it with ${how}`)
    }
    const wrong = namesMistakes(collection.fields, fields)
    if (wrong.length > 0) {
      return wrong.map((text) => ({ place: declared.places.fields, advice: text }))
    }
    const name = `${groupName(fields)} ${target}`
    if (seen.has(name)) return advice('leave it out: the same reference is declared above')
    seen.add(name)
    return [...typeMistakes(collection, declared, to), ...deleteMistakes(collection, declared)]
  }
}

function typeMistakes(
  { fields }: CollectionDefinition,
  { fields: names, collection: target, fieldPlace }: DeclaredReference,
  to: CollectionDefinition,
): readonly Mistake[] {
  return keyNamesOf(to).flatMap((part, index) => {
    const name = names[index] as string
    const [own, other] = [fields[name], fieldOf(to.fields, part)]
    if (own === undefined || other === undefined) return []
    const difference = differenceOf(own, other)
    if (difference === undefined) return []
    const advice = `${part} of ${target} ${difference}: declare ${name} in the same way`
    return [{ place: fieldPlace(name), advice }]
  })
}

/** Returns how a key field differs from a field that refers to it, so that their values can't be equal. */
function differenceOf(own: Field, other: Field): string | undefined {
  if (own.type !== other.type) return `is a field of type ${other.type}`
  if (own.type === 'decimal' && other.type === 'decimal' && own.scale !== other.scale)
    return `has the scale ${other.scale}`
  return undefined
}

function deleteMistakes(
  collection: CollectionDefinition,
  { fields: names, onDelete, places: { onDelete: at } }: DeclaredReference,
): readonly Mistake[] {
  const key = keyNamesOf(collection)
  if (onDelete === 'restrict') return []
  if (key.length === 0) {
    const advice = `${onDelete} needs a key of this collection: declare one, or use restrict`
    return [{ place: at, advice }]
  }
  if (onDelete === 'cascade') return []
  return names
    .filter((name) => key.includes(name) || collection.fields[name]?.required === true)
    .map((name) => ({ place: at, advice: `${name} cannot be null: use restrict or cascade` }))
}

/** Returns a mistake for each circle of several collections whose deletes cascade. */
export function cascadeMistakes({ collections }: ApplicationDefinition): readonly Mistake[] {
  const cascades = new Map(
    Object.entries(collections).map(([name, definition]) => [name, cascadesOf(definition)]),
  )
  const circles = circlesOf(
    new Map([...cascades].map(([name, all]) => [name, all.map(({ collection }) => collection)])),
  )
  const reported = new Set<string>()
  const mistakes: Mistake[] = []
  let searches = 0
  for (const [name, all] of cascades) {
    for (const { collection: target, places } of all) {
      // A tree ends: its cascade stops at the items to which none refers.
      if (target === name || reported.has(name) || reported.has(target)) continue
      if (!circles.leadsBack(name, target) || ++searches > maxListedMistakes) continue
      const way = circles.wayBack(name, target) ?? []
      if (way.some((each) => reported.has(each))) continue
      for (const each of way) reported.add(each)
      const circle = [name, ...way].join(' -> ')
      const place = `collections.${name}.${places.onDelete}`
      const advice = `cascades cannot form a circle (${circle}): use restrict or setNull for one of them`
      mistakes.push({ place, advice })
    }
  }
  return mistakes
}

function cascadesOf(definition: CollectionDefinition): readonly DeclaredReference[] {
  return declaredReferences(definition).filter(({ onDelete }) => onDelete === 'cascade')
}

function groupName(names: readonly string[]): string {
  return names.toSorted().join(', ')
}

function nearest(name: string, known: object, what: string): string {
  return suggestion(name, Object.keys(known), what)
}
