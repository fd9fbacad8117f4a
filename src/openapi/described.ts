import type { PublishedEventName } from '../definition/handler.ts'
import type { PublishedExpansion } from '../definition/published.ts'
import { principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { PageHost } from '../pages/page.ts'
import { askedOperators, type AskedOperator } from '../request/asked-operators.ts'
import { isExpandable } from '../request/expand.ts'
import { hasRight } from '../request/roles.ts'
import { fieldsViewOf, type View } from '../request/view.ts'
import { namesOf, type CollectionNames } from './names.ts'

/** The service that a document describes. */
export type DescribedService = Omit<PageHost, 'name' | 'pages'>

/** Whose document it is, and of which part of the service. */
export interface Audience {
  /** The roles whose rights the document shows. */
  readonly roles: readonly string[]
  /** Whether a collection is left out. Default: none is. */
  readonly hides?: (collection: PublishedCollection) => boolean
  /** The only application that is described. Default: all. */
  readonly application?: string | undefined
}

/** A collection as a document describes it. */
export interface DescribedCollection {
  readonly collection: PublishedCollection
  readonly names: CollectionNames
  readonly view: View
  /** The parameters with an operator that the audience has. */
  readonly operators: ReadonlyMap<string, AskedOperator>
  /** The events that the audience may invoke over HTTP. */
  readonly events: ReadonlySet<PublishedEventName>
  /** Whether the audience can read pages. */
  readonly hasPages: boolean
  /** Whether the audience can read single items by their key. */
  readonly hasItems: boolean
  /** The relations whose items the audience can ask for. */
  readonly expandable: readonly Related[]
}

/** A relation, and the start of the names of the schemas of the other collection. */
export interface Related {
  readonly expansion: PublishedExpansion
  readonly schemas: string
}

/** Returns the collections of which an audience may invoke an event. */
export function describedCollections(
  { collections, options }: DescribedService,
  { roles, hides = () => false, application }: Audience,
): readonly DescribedCollection[] {
  const caller = principal('reader', { roles })
  const names = namesOf(collections, [`${options.brand}-deploy`, `${options.brand}-admin`])
  return collections.flatMap((collection) => {
    const isWanted = application === undefined || collection.application === application
    if (!isWanted || hides(collection)) return []
    const events = new Set(
      Array.from(collection.publishes).filter((event) => hasRight(collection, event, caller)),
    )
    if (events.size === 0) return []
    const { key, singleton } = collection
    const reads = events.has('Filter')
    const view = fieldsViewOf(collection, caller)
    const operators = [...askedOperators(view, caller)].filter(
      ([, { through }]) => through === undefined || !hides(through.collection),
    )
    const expandable = collection.expansions
      .filter((one) => !hides(one.to) && isExpandable(one, view, caller))
      .map((expansion) => ({ expansion, schemas: names.get(expansion.to)?.schemas ?? '' }))
    return {
      collection,
      names: names.get(collection) as CollectionNames,
      view,
      operators: new Map(operators),
      expandable,
      events,
      hasPages: reads && collection.hasPages && !singleton,
      hasItems: reads && key.length > 0,
    }
  })
}

/** Returns all roles that the definitions name; the complete document is for a caller with all of them. */
export function rolesNamedIn(collections: readonly PublishedCollection[]): readonly string[] {
  const roles = collections.flatMap(({ fields, computed, rolesFor }) => [
    ...Object.values(rolesFor).flat(2),
    ...[...fields, ...computed.map(({ field }) => field)].flatMap(
      ({ readableBy = [], writableBy = [] }) => [...readableBy, ...writableBy],
    ),
  ])
  return Array.from(new Set(roles)).sort()
}
