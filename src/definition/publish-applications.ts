import type { ApplicationDefinitions } from './application.ts'
import {
  publishCollection,
  type IncomingReference,
  type PublishedCollection,
  type PublishOptions,
  type Reference,
} from './published.ts'
import type { PublishedField } from './published-field.ts'
import { declaredReferences } from './relations.ts'

/** Returns the published collections of checked applications, with their references to each other. */
export function publishApplications(
  applications: ApplicationDefinitions,
  limits: Pick<PublishOptions, 'maxPageSize' | 'maxTargetLength'> = {},
): readonly PublishedCollection[] {
  const published = Object.entries(applications).flatMap(
    ([application, { collections, roles }]) => {
      const siblings = new Map<string, PublishedCollection>()
      return Object.entries(collections).map(([name, definition]) => {
        const references: Reference[] = []
        const referredBy: IncomingReference[] = []
        const relations = { references, referredBy, siblings }
        const options = { ...limits, roles, relations }
        const collection = publishCollection(application, name, definition, options)
        siblings.set(name, collection)
        return { relations, collection }
      })
    },
  )
  const all = published.map(({ collection }) => collection)
  for (const { collection, relations } of published) {
    relations.references.push(...referencesOf(collection, all))
    Object.freeze(relations.references)
  }
  const references = all.flatMap((collection) => collection.references)
  for (const { collection, relations } of published) {
    relations.referredBy.push(...references.flatMap((each) => incoming(collection, each)))
    Object.freeze(relations.referredBy)
  }
  return all
}

function referencesOf(
  from: PublishedCollection,
  all: readonly PublishedCollection[],
): readonly Reference[] {
  return declaredReferences(from.definition).flatMap(({ fields: names, collection, onDelete }) => {
    const to = all.find(
      ({ application, name }) => application === from.application && name === collection,
    )
    // The checks of a service find references to unknown collections.
    if (to === undefined) return []
    const fields = Object.freeze(names.map((name) => from.byName.get(name) as PublishedField))
    return [Object.freeze({ from, fields, to, onDelete })]
  })
}

// Collections that share a table have the same rows. Names are compared in lower case, as in databases.
function incoming(
  collection: PublishedCollection,
  reference: Reference,
): readonly IncomingReference[] {
  const { to } = reference
  if (collection.serve !== undefined || !isSame(collection.table, to.table)) return []
  const key = to.key.flatMap(({ column }) =>
    collection.fields.filter((field) => isSame(field.column, column)),
  )
  return key.length < to.key.length ? [] : [Object.freeze({ reference, key: Object.freeze(key) })]
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase()
}
