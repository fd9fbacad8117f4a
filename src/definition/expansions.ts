import type { Mistake } from '../checks/mistakes.ts'
import { listed, suggestion } from '../checks/nearest-name.ts'
import { parameters, type SortKey } from '../protocol/query.ts'
import type { ApplicationDefinition } from './application.ts'
import type { CollectionDefinition } from './collection.ts'
import type { ExpandData } from './related-items.ts'
import { fieldOf } from './field.ts'
import { fieldTypes } from './field-type.ts'
import type { PublishedField } from './published-field.ts'
import type { PublishedCollection, PublishedExpansion, Reference } from './published.ts'
import {
  declaredReferences,
  isReferenceBy,
  isReversed,
  type DeclaredReference,
} from './relations.ts'

const usualLimit = 20

/** The most items that one expansion may have in an item. */
export const maxExpandedItems = 100

type Declared = string | readonly string[] | ExpandData

/** Returns the expansions of a collection whose references and siblings are known. */
export function publishExpansions(collection: PublishedCollection): readonly PublishedExpansion[] {
  return Object.entries(collection.definition.expand ?? {}).flatMap(([name, declared]) => {
    const from = isReversed(declared) ? collection.siblings.get(declared.from) : collection
    const reference = from?.references.find((one) =>
      isReversed(declared)
        ? one.to === collection && isNamed(one, declared.reference)
        : isNamed(one, declared),
    )
    // The checks of a service find unknown references.
    return reference === undefined ? [] : [Object.freeze(publish(name, reference, declared))]
  })
}

function publish(name: string, reference: Reference, declared: Declared): PublishedExpansion {
  const { from, fields, to } = reference
  if (!isReversed(declared))
    return { name, isMany: false, to, own: fields, theirs: to.key, sort: [], limit: 1 }
  const { sort, limit = usualLimit } = declared
  const order = sort === undefined ? from.defaultSort : (sortKeys(sort) ?? [])
  return { name, isMany: true, to: from, own: to.key, theirs: fields, sort: order, limit }
}

/** Returns whether a reference has these fields. Without fields, any has. */
function isNamed(
  { fields }: { readonly fields: readonly (string | PublishedField)[] },
  names: string | readonly string[] | undefined,
): boolean {
  const own = fields.map((field) => (typeof field === 'string' ? field : field.name))
  return names === undefined || isReferenceBy(own, names)
}

function sortKeys(sort: string | readonly string[]): readonly SortKey[] | undefined {
  return parameters.sort.decode([sort].flat().join(','))
}

/** Returns the mistakes in the expansions of a well-formed collection. */
export function expandMistakes(
  { collections }: ApplicationDefinition,
  name: string,
  collection: CollectionDefinition,
): readonly Mistake[] {
  return Object.entries(collection.expand ?? {}).flatMap(([member, declared]) => {
    const place = `expand.${member}`
    if (
      fieldOf(collection.fields, member) !== undefined ||
      Object.hasOwn(collection.computed ?? {}, member)
    )
      return [{ place, advice: `${member} is a field already: use another name` }]
    return isReversed(declared)
      ? reversedMistakes(collections, name, place, declared)
      : referenceMistakes(collections, collection, place, declared)
  })
}

function referenceMistakes(
  collections: ApplicationDefinition['collections'],
  collection: CollectionDefinition,
  place: string,
  names: string | readonly string[],
): readonly Mistake[] {
  const references = declaredReferences(collection)
  const found = references.find((one) => isNamed(one, names))
  if (found !== undefined)
    return [
      ...unlisted(collection, found).map((advice) => ({ place, advice })),
      ...unpublished(collections, place, found.collection),
    ]
  const known = references.map(({ fields }) => fields.join(' + '))
  const advice =
    known.length === 0
      ? 'the collection has no references: add references to the field, or leave it out'
      : `is not a reference; the references are ${listed(known)}`
  return [{ place, advice }]
}

function reversedMistakes(
  collections: ApplicationDefinition['collections'],
  name: string,
  place: string,
  { from, reference, sort }: ExpandData,
): readonly Mistake[] {
  const other = Object.hasOwn(collections, from) ? collections[from] : undefined
  if (other === undefined) {
    const names = Object.keys(collections)
    const advice = `${from} is not a collection of the application; ${suggestion(from, names, 'collections')}`
    return [{ place: `${place}.from`, advice }]
  }
  const references = declaredReferences(other).filter((one) => one.collection === name)
  const fitting = references.filter((one) => isNamed(one, reference))
  const [only] = fitting
  if (only === undefined || fitting.length > 1)
    return [{ place, advice: ambiguity(from, name, references) }]
  const hidden = [...unlisted(other, only), ...unfiltered(from, other, only)].map((advice) => ({
    place,
    advice,
  }))
  return [...hidden, ...unpublished(collections, place, from), ...sortMistakes(other, place, sort)]
}

/** Returns why no request can follow a reference: pages leave one of its fields out. */
export function unlisted(
  { fields }: CollectionDefinition,
  reference: DeclaredReference,
): readonly string[] {
  const names = reference.fields.filter((name) => fieldOf(fields, name)?.itemOnly === true)
  if (names.length === 0) return []
  return [`needs the values of ${names.join(' + ')} in pages: leave itemOnly out there`]
}

/** Returns why a list of the items that refer to another one is not a page that clients may ask for. */
function unfiltered(
  name: string,
  { requiredFilters = [] }: CollectionDefinition,
  reference: DeclaredReference,
): readonly string[] {
  const missing = requiredFilters.filter((one) => !reference.fields.includes(one))
  if (missing.length === 0) return []
  return [
    `${name} requires filters by ${listed(missing)}, which a list of related items does not have: leave it out`,
  ]
}

function ambiguity(from: string, name: string, references: readonly DeclaredReference[]): string {
  if (references.length === 0)
    return `${from} has no reference to ${name}: add one, or leave it out`
  const names = references.map(({ fields }) => fields.join(' + '))
  return `needs reference: the fields of one of the references of ${from} to ${name}, which are ${listed(names)}`
}

function unpublished(
  collections: ApplicationDefinition['collections'],
  place: string,
  name: string,
): readonly Mistake[] {
  const { publishes } = collections[name] ?? {}
  if (publishes === undefined || publishes.includes('Filter')) return []
  return [{ place, advice: `${name} does not publish Filter: publish it, or leave this out` }]
}

function sortMistakes(
  { fields }: CollectionDefinition,
  place: string,
  sort: ExpandData['sort'],
): readonly Mistake[] {
  if (sort === undefined) return []
  const keys = sortKeys(sort)
  if (keys === undefined) return [{ place: `${place}.sort`, advice: parameters.sort.rule }]
  return keys.flatMap(({ field: name }) => {
    const field = fieldOf(fields, name)
    // The order would reveal the values of a field that some callers can't read.
    const isFit =
      field !== undefined &&
      fieldTypes[field.type].compare !== undefined &&
      field.itemOnly !== true &&
      field.readableBy === undefined
    if (isFit) return []
    const advice =
      field === undefined
        ? `${name} is not a field; the fields are ${listed(Object.keys(fields))}`
        : `${name} cannot be used here because of its type, itemOnly or readableBy`
    return [{ place: `${place}.sort`, advice }]
  })
}
