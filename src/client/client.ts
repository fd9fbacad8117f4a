import type { CollectionShape } from '../definition/item.ts'
import type { ApplicationDefinitions } from '../definition/application.ts'
import type { CollectionsOf } from '../in-process.ts'
import type { ClientCollection } from './calls.ts'
import { clientCollection, type RejectedRequest } from './collection.ts'
import { completeClient, type ClientOptions } from './options.ts'
import { clientReleases, type Releases } from './releases.ts'
import { createSend } from './send.ts'
import { collectionTarget } from './target.ts'

// Whether a type is a service is not compared with `Service`: it may come from another copy of this package, with other
// drivers installed or of another version.
type ApplicationsOf<Source> = string extends keyof Source
  ? Source
  : '~applications' extends keyof Source
    ? NonNullable<Source['~applications']>
    : Source

/** A client of a service over HTTP. */
export interface Client<Applications> {
  /** Returns a collection by its names. It sends nothing. */
  collection<
    Application extends keyof Applications & string,
    Name extends keyof CollectionsOf<Applications[Application]> & string,
  >(
    application: Application,
    name: Name,
  ): ClientCollection<
    Extract<CollectionsOf<Applications[Application]>[Name], CollectionShape>,
    CollectionsOf<Applications[Application]>
  >
  /** The deployment endpoints, if the service publishes them. */
  readonly releases: Releases
}

/**
 * Creates a client of a service, typed by the service or by its applications. It sends nothing, and throws a
 * TypeError for invalid options.
 *
 * ```ts
 * import type { service } from './server.ts'
 *
 * const client = createClient<typeof service>({ url: 'https://example.com', key })
 * const { items } = await client.collection('sales', 'orders').filter({ status: 'open' })
 * ```
 *
 * Without a type, every name is accepted, and items are records.
 */
export function createClient<Source = ApplicationDefinitions>(
  given: ClientOptions,
): Client<ApplicationsOf<Source>> {
  const options = completeClient(given)
  const send = createSend(options)
  const rejected = new WeakMap<object, RejectedRequest>()
  const client = {
    collection: (application: string, name: string): unknown => {
      const target = collectionTarget(application, name)
      return clientCollection({ send, target, bounds: options, rejected })
    },
    releases: clientReleases(send, options),
  }
  return Object.freeze(client) as Client<ApplicationsOf<Source>>
}
