import type { ApplicationDefinitions } from './application.ts'
import { publishExpansions } from './expansions.ts'
import {
  publishCollection,
  type IncomingReference,
  type PublishedCollection,
  type PublishedExpansion,
  type PublishOptions,
  type Reference,
} from './published.ts'
import { requirePlainObject, requirePlainPrototype } from '../checks/plain-object.ts'
import type { PublishedField } from './published-field.ts'
import { declaredReferences } from './relations.ts'

const call = 'publishApplications'

/** Returns the published collections of checked applications, with their references to each other. */
export function publishApplications(
  applications: ApplicationDefinitions,
  limits: Pick<PublishOptions, 'maxPageSize' | 'maxTargetLength'> = {},
): readonly PublishedCollection[] {
  requirePlainPrototype('The applications', applications, call)
  requirePlainObject('The limits', limits, call)
  const published = Object.entries(applications).flatMap(([application, definition]) => {
    requirePlainPrototype(`The application ${application}`, definition, call)
    const { collections, roles } = definition
    requirePlainPrototype(`The collections of ${application}`, collections, call)
    const siblings = new Map<string, PublishedCollection>()
    return Object.entries(collections).map(([name, definition]) => {
      const references: Reference[] = []
      const referredBy: IncomingReference[] = []
      const expansions: PublishedExpansion[] = []
      const relations = { references, referredBy, expansions, siblings }
      const options = { ...limits, roles, relations }
      const collection = publishCollection(application, name, definition, options)
      siblings.set(name, collection)
      return { relations, collection }
    })
  })
  const all = published.map(({ collection }) => collection)
  for (const { collection, relations } of published) {
    for (const reference of referencesOf(collection)) relations.references.push(reference)
    Object.freeze(relations.references)
  }
  for (const { collection, relations } of published) {
    relations.expansions.push(...publishExpansions(collection))
    Object.freeze(relations.expansions)
  }
  const references = all.flatMap((collection) => collection.references)
  const byTable = grouped(references, ({ to }) => to.table.toLowerCase())
  for (const { collection, relations } of published) {
    for (const reference of incoming(collection, byTable.get(collection.table.toLowerCase())))
      relations.referredBy.push(reference)
    Object.freeze(relations.referredBy)
  }
  return all
}

function referencesOf(from: PublishedCollection): readonly Reference[] {
  return declaredReferences(from.definition).flatMap(({ fields: names, collection, onDelete }) => {
    const to = from.siblings.get(collection)
    // The checks of a service find references to unknown collections.
    if (to === undefined) return []
    const fields = Object.freeze(names.map((name) => from.byName.get(name) as PublishedField))
    return [Object.freeze({ from, fields, to, onDelete })]
  })
}

// Collections that share a table have the same rows. Storage decides whether names that differ in case are the same table.
function incoming(
  collection: PublishedCollection,
  references: readonly Reference[] = [],
): readonly IncomingReference[] {
  if (collection.serve !== undefined || references.length === 0) return []
  const byColumn = grouped(collection.fields, ({ column }) => column.toLowerCase())
  return references.flatMap((reference) => {
    const { to } = reference
    const key = to.key.flatMap(({ column }) => byColumn.get(column.toLowerCase()) ?? [])
    return key.length < to.key.length ? [] : [Object.freeze({ reference, key: Object.freeze(key) })]
  })
}

function grouped<Value>(
  values: readonly Value[],
  keyOf: (value: Value) => string,
): ReadonlyMap<string, readonly Value[]> {
  const groups = new Map<string, Value[]>()
  for (const value of values) {
    const group = groups.get(keyOf(value))
    if (group === undefined) groups.set(keyOf(value), [value])
    else group.push(value)
  }
  return groups
}
