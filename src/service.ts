import type { ApplicationDefinitions } from './definition/application.ts'
import { reportPatterns } from './definition/pattern-report.ts'
import { requirePrincipal, type Principal } from './definition/principal.ts'
import type { PublishedCollection } from './definition/published.ts'
import { notFound, unavailable } from './errors.ts'
import { encodeOutcome } from './request/outcome.ts'
import { planEvent } from './request/plan.ts'
import type { RequestHandler, ServiceReply, ServiceRequest } from './request/request.ts'
import { routeMethod } from './request/route.ts'
import { requireRight, viewOf } from './request/view.ts'
import { nestedAccess } from './events/access.ts'
import { runEvent } from './events/run.ts'
import type { Runtime } from './events/runtime.ts'
import { asServiceError } from './failure.ts'
import { readBytes, requireJsonAccepted } from './http/read.ts'
import { replyWriter } from './http/write.ts'
import { inProcess, type InProcess } from './in-process.ts'
import { harmless, type Place } from './observation.ts'
import { completeService, type OpenServiceOptions, type Security } from './options.ts'
import { brandedHeaders } from './protocol/names.ts'
import {
  applicationOf,
  decodePath,
  originForm,
  requireTarget,
  splitTarget,
  type ResourcePath,
} from './protocol/path.ts'
import { decodeQuery } from './protocol/query.ts'
import { decodeIgnoredWarnings } from './protocol/warnings.ts'
import { publish } from './publication.ts'
import type { Keyring } from './security/keys/key-store.ts'
import { secure } from './security/secure.ts'
import type { Users } from './security/users/user-store.ts'
import { checkedStorage } from './storage/checked.ts'
import { openOnce, whenOpen } from './storage/open-once.ts'
import { tracedStorage } from './storage/traced.ts'
import { watched, type Witness } from './watch.ts'
import { workInProgress } from './work.ts'

/** A running service: one door for requests, and the same events in process. */
export interface Service<Applications> extends RequestHandler {
  /** Settles when storage is open and the patterns of fields were analyzed; rejects with the reason when it can't be opened. */
  ready(): Promise<void>
  /** The events without HTTP, with the rights of a principal. */
  as(principal: Principal): InProcess<Applications>
  /** Whether the storage keeps rows after the process has ended. */
  readonly isDurable: boolean
  /** The API keys of the service (section 2.6). */
  readonly keys: Keyring
  /** The users that the library keeps for the service. */
  readonly users: Users
  /** Answers 503 from now on, waits for work in progress, and closes storage. */
  close(): Promise<void>
}

// For a missing member the compiler would print the types of all applications; this is short.
type RequiresSecurity<Providers> = unknown extends Providers
  ? {
      readonly storage: 'The option security is missing: a provider, a list of them, or openAccess()'
    }
  : unknown

/**
 * Publishes applications as REST collections. Throws a TypeError that lists every mistake in the
 * options or definitions; nothing starts then.
 */
export function createService<const Applications extends ApplicationDefinitions, Providers>(
  given: OpenServiceOptions<Applications> & {
    readonly security?: Providers & (Security | readonly Security[])
  } & RequiresSecurity<Providers>,
): Service<Applications>
export function createService<const Applications extends ApplicationDefinitions>(
  given: OpenServiceOptions<Applications>,
): Service<Applications> {
  const options = completeService(given)
  const { applications, maximumPageSize, bodyLimit, maxTargetLength, bodyStatus, now } = options
  const storage = tracedStorage(checkedStorage(options.storage))
  const publication = publish(applications, maximumPageSize)
  const headers = brandedHeaders(options.brand)
  const version =
    options.serviceVersion === false ? {} : { [headers.version]: options.serviceVersion }
  const writer = replyWriter(version)
  const work = workInProgress()
  const report = harmless(options.report)
  const runtime: Runtime = {
    adapter: storage,
    collectionOf: publication.collectionOf,
    access: nestedAccess,
    report,
    handlerTimeout: options.handlerTimeout,
    now,
    waiting: new WeakMap(),
    enter: (begin) => {
      if (closing !== undefined) throw unavailable('closing')
      const opening = storageOpen()
      return work.run(opening === undefined ? begin : () => opening.then(begin))
    },
    track: (background) => void work.run(() => background).catch(() => undefined),
  }
  const defer = (background: () => Promise<unknown>): void => {
    runtime.track(new Promise((resolve) => setTimeout(resolve)).then(background))
  }
  const security = secure({
    ...options,
    storage: whenOpen(storage, () => storageOpen()),
    report,
    defer,
  })
  const storageOpen = openOnce(() =>
    storage.open([...publication.collections, ...security.collections]),
  )
  const patternsReported = reportPatterns(applications, report)
  let closing: Promise<void> | undefined

  return {
    handle: watched(answer, { log: options.log, hideCredentials: security.hideCredentials }),
    serves: (target) => {
      const application = applicationOf(splitTarget(originForm(target)).path)
      return application !== undefined && Object.hasOwn(applications, application)
    },
    ready: async () => {
      await storageOpen()
      await patternsReported
    },
    isDurable: options.storage.supports.durable,
    keys: security.keys,
    users: security.users,
    as: (principal) => inProcess<Applications>(runtime, publication, requirePrincipal(principal)),
    close: () => (closing ??= close()),
  }

  async function answer(request: ServiceRequest, witness?: Witness): Promise<ServiceReply> {
    try {
      if (closing !== undefined) throw unavailable('closing')
      return await handle(request, witness)
    } catch (error) {
      const refusal = asServiceError(error, report, () => placeOf(request))
      witness?.refused(refusal)
      return writer.refusal(refusal)
    }
  }

  async function handle(request: ServiceRequest, witness?: Witness): Promise<ServiceReply> {
    const sent = originForm(request.target)
    requireTarget(sent, maxTargetLength)
    const target = splitTarget(sent)
    const path = decodePath(target.path)
    const known = publication.find(path.application, path.collection)
    const name = routeMethod(request.method, path, known)
    if (known !== undefined) witness?.asked(known, name)
    const principal = await security.gate(request)
    witness?.came(principal)
    const collection = requireFound(known, path)
    requireRight(collection, name, principal)
    const view = viewOf(collection, principal)
    requireJsonAccepted(request)
    const bytes =
      name === 'Insert' || name === 'Update' ? await readBytes(request, bodyLimit) : noBytes
    const query = decodeQuery(security.cleanQuery(target.query))
    const plan = planEvent(name, { view, key: path.key, query }, options)
    const confirmed = decodeIgnoredWarnings(request.header(headers.ignoreWarnings))
    const event = plan(bytes)
    const caller = { principal, confirmed, signal: () => request.signal }
    const outcome = await runtime.enter(() => runEvent(runtime, event, caller))
    return writer.outcome(encodeOutcome(outcome, bodyStatus))
  }

  /** Where a request was going; found again after a failure, so that successes don't pay for it. */
  function placeOf({ method, target }: ServiceRequest): Place | null {
    try {
      const path = decodePath(splitTarget(originForm(target)).path)
      const known = publication.find(path.application, path.collection)
      if (known === undefined) return null
      const { application, name: collection } = known
      return { application, collection, event: routeMethod(method, path, known) }
    } catch {
      return null
    }
  }

  async function close(): Promise<void> {
    storage.beforeClose?.()
    await work.settled()
    await security.flush()
    await storage.close()
  }
}

const noBytes = new Uint8Array()

/** The collection of a path. Throws NOT_FOUND for an unknown one, and for an item path without a key. */
function requireFound(
  collection: PublishedCollection | undefined,
  path: ResourcePath,
): PublishedCollection {
  if (collection === undefined) throw notFound()
  if (path.key !== undefined && collection.key.length === 0) throw notFound()
  return collection
}
