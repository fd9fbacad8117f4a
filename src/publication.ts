import type { ApplicationDefinitions } from './definition/application.ts'
import { declaredAs } from './definition/declared-as.ts'
import type { CollectionShape } from './definition/item.ts'
import { publishApplications } from './definition/publish-applications.ts'
import type { PublishedCollection } from './definition/published.ts'

/** All published collections of a service. */
export interface Publication {
  readonly collections: readonly PublishedCollection[]
  /** Returns the collection with the names of a path; undefined if it is unknown. */
  find(application: string, collection: string): PublishedCollection | undefined
  /**
   * Returns a collection by its name, its definition, or a definition that it was made of. Throws a TypeError
   * if the application has none, or several that were made of the definition.
   */
  collectionOf(application: string, reference: string | CollectionShape): PublishedCollection
  /** Returns the collections of all applications with a definition, or else those that were made of it. */
  definedBy(definition: CollectionShape): readonly PublishedCollection[]
}

/** Publishes checked applications. */
export function publish(
  applications: ApplicationDefinitions,
  limits: Parameters<typeof publishApplications>[1],
): Publication {
  const all = publishApplications(applications, limits)
  const byApplication = new Map(
    Object.keys(applications).map((application) => {
      const own = all.filter((collection) => collection.application === application)
      return [application, new Map(own.map((collection) => [collection.name, collection]))]
    }),
  )
  return {
    collections: all,
    find: (application, collection) => byApplication.get(application)?.get(collection),
    definedBy: (definition) => definedBy(all, definition),
    collectionOf: (application, reference) => {
      const own = byApplication.get(application)
      if (typeof reference === 'string') {
        const named = own?.get(reference)
        if (named !== undefined) return named
        throw new TypeError(`The application ${application} publishes no collection ${reference}.`)
      }
      const [found, other] = definedBy(Array.from(own?.values() ?? []), reference)
      if (found === undefined) {
        throw unpublished(`The application ${application}`, reference)
      }
      if (other === undefined || found.definition === reference) return found
      throw new TypeError(
        `The collections ${found.name} and ${other.name} of the application ${application} were made of the same definition; name one of them.`,
      )
    },
  }
}

/** Returns the error for a definition that is not published. A definition has no name, so its key and fields show it. */
export function unpublished(publisher: string, definition: CollectionShape): TypeError {
  const { key = [], fields } = definition
  const parts = [key].flat().join(', ')
  const named = Object.keys(fields).slice(0, 8).join(', ')
  const keyed = parts === '' ? 'no key' : `the key ${parts}`
  return new TypeError(
    `${publisher} does not publish the collection that was given, which has ${keyed} and the fields ${named}: add it to the collections of an application, or give the definition that is published.`,
  )
}

function definedBy(
  collections: readonly PublishedCollection[],
  reference: CollectionShape,
): readonly PublishedCollection[] {
  const exact = collections.filter(({ definition }) => definition === reference)
  if (exact.length > 0) return exact
  return collections.filter(({ definition }) => declaredAs(definition).includes(reference))
}
