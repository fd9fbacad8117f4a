import type { ApplicationDefinitions } from './definition/application.ts'
import type { CollectionShape } from './definition/item.ts'
import { publishCollection, type PublishedCollection } from './definition/published.ts'

/** All published collections of a service. */
export interface Publication {
  readonly collections: readonly PublishedCollection[]
  /** Returns the collection with the names of a path; undefined if it is unknown. */
  find(application: string, collection: string): PublishedCollection | undefined
  /** Returns a collection by name or definition. Throws a TypeError if the application has none. */
  collectionOf(application: string, reference: string | CollectionShape): PublishedCollection
}

/** Publishes checked applications. */
export function publish(applications: ApplicationDefinitions, maxPageSize: number): Publication {
  const byApplication = new Map<string, ReadonlyMap<string, PublishedCollection>>()
  for (const [application, { collections, roles }] of Object.entries(applications)) {
    const published = Object.entries(collections).map(
      ([name, definition]) =>
        [name, publishCollection(application, name, definition, { maxPageSize, roles })] as const,
    )
    byApplication.set(application, new Map(published))
  }
  const all = Array.from(byApplication.values(), (application) =>
    Array.from(application.values()),
  ).flat()
  return {
    collections: all,
    find: (application, collection) => byApplication.get(application)?.get(collection),
    collectionOf: (application, reference) => {
      const own = Array.from(byApplication.get(application)?.values() ?? [])
      const found = own.find(
        ({ name, definition }) => name === reference || definition === reference,
      )
      if (found !== undefined) return found
      const what = typeof reference === 'string' ? `collection ${reference}` : 'such collection'
      throw new TypeError(`The application ${application} publishes no ${what}.`)
    },
  }
}
