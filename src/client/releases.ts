import { requirePlainObject } from '../checks/plain-object.ts'
import type { Envelope } from '../protocol/envelope.ts'
import type { CompleteOptions } from './options.ts'
import { tooManyPages } from './read-pages.ts'
import { RequestError } from './request-error.ts'
import { pause, type OutgoingRequest, type Send } from './send.ts'
import { collectionTarget, keySegment, pageQuery } from './target.ts'

/** A release in a list. */
export interface ListedRelease {
  readonly releaseId: string
  readonly solutionId: string
  readonly name: string
  readonly version: string
  readonly releaseNotes: string | null
  /** `YYYY-MM-DDThh:mm:ss` */
  readonly releaseDate: string
  /** In lists only with the option `withStatus`. */
  readonly status?: BuildStatus
}

/** The states of a build. */
export type BuildStatus = 'queued' | 'building' | 'built' | 'failed'

/** A release in the queue. */
export interface QueuedRelease extends ListedRelease {
  readonly status: BuildStatus
  readonly snapshot: boolean
}

/** A release with its package. `fileName` and `file` (base64) are null before it is built. */
export interface FullRelease extends QueuedRelease {
  readonly fileName: string | null
  readonly file: string | null
}

/** The body of a build request. The defaults come from the solution. */
export interface BuildRequest {
  readonly solutionId: string
  readonly version?: string
  readonly releaseNotes?: string
  /** Whether a snapshot is taken before the build. Default: false. */
  readonly snapshot?: boolean
}

/** The options of a request for releases. */
export interface ReleaseOptions {
  /** Aborts the request. A build that was queued continues. */
  readonly signal?: AbortSignal
}

/** The progress of a build. */
export interface BuildProgress {
  /** The last known state. */
  readonly release: QueuedRelease
  /** Whether the service was unavailable, and the state is requested again. */
  readonly isRetrying: boolean
}

/** The options of {@link Releases.wait} and {@link Releases.buildAndWait}. */
export interface WaitOptions extends ReleaseOptions {
  /** The maximum time to wait, in milliseconds. Default: 1,800,000. */
  readonly timeout?: number
  /** Called with the first state, and after each request for the state. */
  readonly onProgress?: (progress: BuildProgress) => void
}

/** The deployment endpoints of a service. Every method may reject with a RequestError. */
export interface Releases {
  /** Queues a build. The request is repeated with `retryWrites` only, since each one is a separate build. */
  queue(request: BuildRequest, options?: ReleaseOptions): Promise<QueuedRelease>
  /** Returns the state of a build. */
  state(releaseId: string, options?: ReleaseOptions): Promise<QueuedRelease>
  /**
   * Waits until a build has ended, and returns it with the status `built` or `failed`. Rejects if that takes too
   * long, or if the service is unavailable for too long; the build continues in any case.
   */
  wait(release: QueuedRelease, options?: WaitOptions): Promise<QueuedRelease>
  /** Queues a build, and waits until it has ended, as `wait` does. */
  buildAndWait(request: BuildRequest, options?: WaitOptions): Promise<QueuedRelease>
  /** Returns all releases of a solution, newest first. */
  list(
    solutionId: string,
    options?: ReleaseOptions & { readonly withStatus?: boolean },
  ): Promise<readonly ListedRelease[]>
  /** Returns a release with its package. With `solutionId`, the release must belong to that solution. */
  get(
    releaseId: string,
    options?: ReleaseOptions & { readonly solutionId?: string },
  ): Promise<FullRelease>
}

const pageSize = 100
const listedFields = [
  ...['releaseId', 'solutionId', 'name', 'version', 'releaseNotes', 'releaseDate', 'status'],
]
// A package may have hundreds of megabytes. A string can't have more.
const downloadTimeout = 600_000
const maxDownloadBytes = 2 ** 29
const minPause = 250
const maxPause = 5_000
// A service is unavailable while it restarts.
const maxFailures = 8

/** Returns the calls of the deployment endpoints. */
export function clientReleases(send: Send, options: CompleteOptions): Releases {
  const { brand, signal, maxPages } = options
  const releaseTarget = collectionTarget(`${brand}-deploy`, 'release')
  const queueTarget = `${releaseTarget}-queue`

  async function itemOf<R extends QueuedRelease>(request: OutgoingRequest): Promise<R> {
    const { item } = (await send(request)).envelope as Envelope<R>
    if (item === undefined || !isRelease(item)) throw notReleases()
    return item
  }

  const releases: Releases = {
    queue: async (body, options = {}) => {
      requirePlainObject('The request', body, 'queue')
      requirePlainObject('The options', options, 'queue')
      return itemOf({ method: 'POST', target: queueTarget, body, ...options })
    },
    state: async (releaseId, options = {}) => {
      requirePlainObject('The options', options, 'state')
      return itemOf({ method: 'GET', target: queueTarget + keySegment(releaseId), ...options })
    },
    buildAndWait: async (request, options = {}) => {
      requirePlainObject('The options', options, 'buildAndWait')
      const { signal: own } = options
      return releases.wait(await releases.queue(request, own && { signal: own }), options)
    },
    wait: async (release, options = {}) => {
      requirePlainObject('The release', release, 'wait')
      requirePlainObject('The options', options, 'wait')
      const signals = [signal, options.signal].filter((one) => one !== undefined)
      return waitForBuild({ releases, signals }, release, options)
    },
    list: async (solutionId, given = {}) => {
      requirePlainObject('The options', given, 'list')
      return listReleases(send, { target: releaseTarget, solutionId, maxPages }, given)
    },
    get: async (releaseId, options = {}) => {
      requirePlainObject('The options', options, 'get')
      const { solutionId, signal: own } = options
      const query = solutionId === undefined ? '' : pageQuery({ solutionId }, {})
      const target = `${releaseTarget}${keySegment(releaseId)}${query ?? ''}`
      const limits = { timeout: downloadTimeout, maxBytes: maxDownloadBytes }
      return itemOf({ method: 'GET', target, ...limits, signal: own })
    },
  }
  return Object.freeze(releases)
}

async function listReleases(
  send: Send,
  list: { readonly target: string; readonly solutionId: string; readonly maxPages: number },
  { withStatus = false, ...options }: NonNullable<Parameters<Releases['list']>[1]>,
): Promise<readonly ListedRelease[]> {
  const { target, solutionId, maxPages } = list
  const found = new Map<string, ListedRelease>()
  for (let [offset, pages] = [0, 1]; ; pages++) {
    const query = pageQuery(
      { solutionId },
      { limit: pageSize, offset, ...(withStatus && { fields: listedFields.join(',') }) },
    )
    const request = { method: 'GET', target: `${target}${query ?? ''}`, ...options } as const
    const { items } = (await send(request)).envelope as Envelope<ListedRelease>
    if (items === undefined) throw notReleases()
    // A release that is added meanwhile shifts the others, so some arrive twice.
    for (const item of items) found.set(item.releaseId, item)
    offset += items.length
    // The service may limit pages to fewer items than requested.
    if (items.length === 0) return [...found.values()]
    if (pages === maxPages) throw tooManyPages(maxPages)
  }
}

async function waitForBuild(
  { releases, signals }: { readonly releases: Releases; readonly signals: readonly AbortSignal[] },
  release: QueuedRelease,
  { timeout = 1_800_000, signal, onProgress }: WaitOptions,
): Promise<QueuedRelease> {
  const until = performance.now() + timeout
  let [last, failures, wait] = [release, 0, minPause]
  for (;;) {
    onProgress?.({ release: last, isRetrying: failures > 0 })
    if (last.status === 'built' || last.status === 'failed') return last
    const left = until - performance.now()
    if (left <= 0) {
      const seconds = Math.round(timeout / 1000)
      const { releaseId } = release
      const text = `The build has not ended after ${seconds} seconds. It continues: release ${releaseId}.`
      throw new RequestError('TIMEOUT', text)
    }
    await pause(Math.min(wait, left), signals)
    wait = Math.min(wait * 1.5, maxPause)
    try {
      last = await releases.state(release.releaseId, signal && { signal })
      failures = 0
    } catch (error) {
      const isTemporary = error instanceof RequestError && error.isTemporary
      if (!isTemporary || ++failures === maxFailures) throw error
    }
  }
}

function isRelease({ releaseId, status }: QueuedRelease): boolean {
  const statuses: readonly unknown[] = ['queued', 'building', 'built', 'failed']
  return typeof releaseId === 'string' && statuses.includes(status)
}

function notReleases(): RequestError {
  const text = 'There is no service with releases at this URL.'
  return new RequestError('INVALID_RESPONSE', text, { status: 200 })
}
