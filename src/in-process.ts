import type { CollectionAccess } from './definition/handler.ts'
import type { CustomResult } from './definition/user-defined-event.ts'
import type { CollectionShape } from './definition/item.ts'
import type { Principal } from './definition/principal.ts'
import type { PublishedCollection } from './definition/published.ts'
import { collectionAccess } from './events/access.ts'
import { requireKnown } from './checks/options.ts'
import { describe } from './checks/plain-object.ts'
import { runCustom } from './events/custom.ts'
import { runEvent, saveTogether, unstored } from './events/run.ts'
import { inRequest, type Caller, type Runtime } from './events/runtime.ts'
import {
  runTransaction,
  type TransactionAccess,
  type TransactionWork,
} from './events/transaction.ts'
import { Unit } from './events/units/unit.ts'
import type { Languages } from './messages/languages.ts'
import type { Language } from './messages/message.ts'
import type { MaybePromise } from './maybe-promise.ts'
import { unpublished, type Publication } from './publication.ts'

/** The collections of an application by endpoint name. */
export type CollectionsOf<Application> = Application extends {
  readonly collections: infer Collections
}
  ? Collections
  : never

type CustomOf<C> = C extends { readonly userDefinedEvents?: infer Events }
  ? NonNullable<Events>
  : object

type InputOf<Event> = Event extends (event: never, input: infer Input) => unknown ? Input : never

type ResultOf<Event> = Event extends (...given: never) => infer Result ? Awaited<Result> : never

/** A collection of a service in process: the events of the contract and the user-defined ones. `Others` are the collections of its application. */
export type ServiceCollection<C extends CollectionShape, Others = unknown> = CollectionAccess<
  C,
  Others
> & {
  /** Runs a user-defined event. Throws a TypeError if the collection does not define it. */
  invoke<Name extends keyof CustomOf<C> & string>(
    name: Name,
    ...input: unknown extends InputOf<CustomOf<C>[Name]> ? [] : [input: InputOf<CustomOf<C>[Name]>]
  ): Promise<CustomResult<ResultOf<CustomOf<C>[Name]>>>
}

/** Options of `as` of a service. */
export interface InProcessOptions {
  /**
   * The language of messages in results: a tag, or the value of an `Accept-Language` header. English if the service has no
   * `messages` for it. Default: English.
   */
  readonly language?: string
}

/** Returns the language of events in process; undefined for a service without `messages`. Throws a TypeError for a mistake. */
export function languageOf(
  languages: Languages | undefined,
  options: InProcessOptions = {},
): Language | undefined {
  requireKnown('as', options, ['language'])
  const { language } = options
  if (language !== undefined && typeof language !== 'string') {
    throw new TypeError(`as: the language must be a string, not ${describe(language)}`)
  }
  return languages?.of(language)
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
  ): ServiceCollection<
    Extract<CollectionsOf<Applications[Application]>[Name], CollectionShape>,
    CollectionsOf<Applications[Application]>
  >
  /**
   * Runs several events in one transaction: all of them are committed if `work` resolves, and none if it
   * rejects. A rejected save is a result that the work can return from or throw for; if the event had
   * written already, the transaction is rolled back in any case. Calls outside of the given
   * `collection` do not take part, and may wait for the transaction.
   */
  transaction<Result>(
    work: (within: WithinTransaction<Applications>) => MaybePromise<Result>,
    options?: InTransactionOptions,
  ): Promise<Result>
}

/** Options of `transaction`. */
export interface InTransactionOptions {
  /** How long the work may take before it is rolled back, in milliseconds. Default: `handlerTimeout`. */
  readonly timeout?: number
  /**
   * Whether the work is repeated if its transaction conflicts with another one, or inserts a key that another one has
   * inserted since the transaction began: after a random pause, up to 12 times in 3 seconds. What the work does besides
   * its writes, it may then do several times. Default: false.
   */
  readonly repeatable?: boolean
}

/** The collections of a service within a transaction. */
export interface WithinTransaction<Applications> {
  /**
   * Returns a collection by its definition. `application` is required if several applications publish it. Throws a
   * TypeError if the service does not publish the collection.
   */
  collection<C extends CollectionShape>(
    definition: C,
    application?: keyof Applications & string,
  ): CollectionAccess<C>
  /** Returns a collection by its names. Throws a TypeError if the service does not publish it. */
  collection<
    Application extends keyof Applications & string,
    Name extends keyof CollectionsOf<Applications[Application]> & string,
  >(
    application: Application,
    name: Name,
  ): CollectionAccess<
    Extract<CollectionsOf<Applications[Application]>[Name], CollectionShape>,
    CollectionsOf<Applications[Application]>
  >
}

/** Returns the events of a service for application code, with the rights of a principal. */
export function inProcess<Applications>(
  runtime: Runtime,
  publication: Publication,
  principal: Principal,
  { language }: { readonly language?: Language | undefined } = {},
): InProcess<Applications> {
  const caller = { principal, confirmed: new Set<string>(), signal: () => undefined, language }
  const collection = (application: string, name: string): unknown => {
    const published = publication.collectionOf(application, name)
    return Object.freeze({
      ...accessInProcess(runtime, caller, published),
      invoke: (event: string, input: unknown) =>
        runCustom(runtime, caller, published, { name: event, input }),
    })
  }
  const transaction: InProcess<Applications>['transaction'] = async (work, options = {}) => {
    const chosen = chosenOf(options, runtime.handlerTimeout)
    if (typeof work !== 'function') {
      throw new TypeError(`transaction: the work must be a function, not ${describe(work)}`)
    }
    const run = async ({ access, joinable }: TransactionAccess) =>
      work({
        ...joinable,
        collection: ((given: string | CollectionShape, name?: string) =>
          access(
            typeof given === 'string'
              ? publication.collectionOf(given, name ?? '')
              : definedCollection(publication, given, name),
          )) as WithinTransaction<Applications>['collection'],
      })
    return inRequest(runtime, undefined, (budget) => {
      budget.extendTo(options.timeout ?? 0)
      return runTransaction(runtime, caller, { run, ...chosen }, budget)
    })
  }
  return Object.freeze({ collection, transaction }) as InProcess<Applications>
}

function chosenOf(
  options: InTransactionOptions,
  byDefault: number,
): Pick<TransactionWork<unknown>, 'timeout' | 'repeatable'> {
  requireKnown('transaction', options, ['timeout', 'repeatable'])
  const { timeout = byDefault, repeatable = false } = options
  if (!Number.isSafeInteger(timeout) || timeout <= 0 || timeout >= 2 ** 31)
    throw new TypeError('transaction: timeout must be a positive whole number of milliseconds')
  if (typeof repeatable !== 'boolean')
    throw new TypeError(`transaction: repeatable must be a boolean, not ${describe(repeatable)}`)
  return { timeout, repeatable }
}

function definedCollection(
  publication: Publication,
  definition: CollectionShape,
  application: string | undefined,
): PublishedCollection {
  if (application !== undefined) return publication.collectionOf(application, definition)
  const [found, other] = publication.definedBy(definition)
  if (found === undefined) throw unpublished('The service', definition)
  if (other === undefined) return found
  throw new TypeError(
    `The applications ${found.application} and ${other.application} publish the same definition; name one of them.`,
  )
}

/** Returns a collection whose events are each a unit of work of their own. */
function accessInProcess(
  runtime: Runtime,
  caller: Caller,
  collection: PublishedCollection,
): CollectionAccess<CollectionShape> {
  const run = <Result>(work: (unit: Unit) => MaybePromise<Result>): MaybePromise<Result> =>
    inRequest(runtime, collection, (budget) => work(Unit.outside(runtime, undefined, budget)))
  return collectionAccess(caller, collection, {
    isShared: false,
    event: (event, own) => run((unit) => runEvent(unit, event, own, 'rows')),
    many: (saves, own) => run((unit) => saveTogether(unit, saves, own)),
    unstored: (event, work) => run((unit) => unstored(unit, caller, { collection, event }, work)),
  })
}
