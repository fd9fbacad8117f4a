import type { CollectionAccess, CustomResult } from './definition/handler.ts'
import type { CollectionShape } from './definition/item.ts'
import type { Principal } from './definition/principal.ts'
import type { PublishedCollection } from './definition/published.ts'
import { collectionAccess } from './events/access.ts'
import { runCustom } from './events/custom.ts'
import { inTransaction, nestedAccess, runEvent } from './events/run.ts'
import type { Caller, Runtime } from './events/runtime.ts'
import { openScope } from './events/scope.ts'
import type { Publication } from './publication.ts'

type CollectionsOf<Application> = Application extends { readonly collections: infer Collections }
  ? Collections
  : never

type CustomOf<C> = C extends { readonly userDefinedEvents?: infer Events }
  ? NonNullable<Events>
  : object

type InputOf<Event> = Event extends (event: never, input: infer Input) => unknown ? Input : never

type ResultOf<Event> = Event extends (...given: never) => infer Result ? Awaited<Result> : never

/** A collection of a service in process: the events of the contract and the user-defined ones. */
export type ServiceCollection<C extends CollectionShape> = CollectionAccess<C> & {
  /** Runs a user-defined event. Throws a TypeError if the collection does not define it. */
  invoke<Name extends keyof CustomOf<C> & string>(
    name: Name,
    ...input: unknown extends InputOf<CustomOf<C>[Name]> ? [] : [input: InputOf<CustomOf<C>[Name]>]
  ): Promise<CustomResult<ResultOf<CustomOf<C>[Name]>>>
}

/** The events of a service without HTTP, with the rights of one principal. */
export interface InProcess<Applications> {
  /** Returns a collection by its names. Throws a TypeError if the service does not publish it. */
  collection<
    Application extends keyof Applications & string,
    Name extends keyof CollectionsOf<Applications[Application]> & string,
  >(
    application: Application,
    name: Name,
  ): ServiceCollection<Extract<CollectionsOf<Applications[Application]>[Name], CollectionShape>>
}

/** Returns the events of a service for application code, with the rights of a principal. */
export function inProcess<Applications>(
  runtime: Runtime,
  publication: Publication,
  principal: Principal,
): InProcess<Applications> {
  const caller = { principal, confirmed: new Set<string>(), signal: () => undefined }
  const collection = (application: string, name: string): unknown => {
    const published = publication.collectionOf(application, name)
    return Object.freeze({
      ...accessInProcess(runtime, caller, published),
      invoke: (event: string, input: unknown) =>
        runCustom(runtime, caller, published, { name: event, input }),
    })
  }
  return { collection } as InProcess<Applications>
}

/** Returns a collection whose events each run in a transaction of their own. */
function accessInProcess(
  runtime: Runtime,
  caller: Caller,
  collection: PublishedCollection,
): CollectionAccess<CollectionShape> {
  return collectionAccess({ caller }, collection, {
    event: (event, own) => runtime.enter(() => runEvent(runtime, event, own, 'rows')),
    unstored: (event, work) =>
      runtime.enter(() =>
        inTransaction(
          runtime,
          { mode: 'read', brief: false, collection },
          (running) =>
            work(openScope({ runtime, caller, running }, { collection, event }, nestedAccess)),
          ({ rejected }) => {
            throw new Error(rejected.message)
          },
        ),
      ),
  })
}
