import * as z from 'zod'
import { encodePath } from '../protocol/path.ts'
import { sendRequest } from './send-request.ts'

const facts = {
  releaseId: z.string(),
  solutionId: z.string(),
  name: z.string(),
  version: z.string(),
  releaseNotes: z.string().nullable(),
  releaseDate: z.string(),
}

/** A release in a list. */
export type ListedRelease = z.infer<typeof listed>
const listed = z.object(facts)

/** A release in the queue. */
export type QueuedRelease = z.infer<typeof queued>
const queued = z.object({
  ...facts,
  status: z.enum(['queued', 'building', 'built', 'failed']),
  snapshot: z.boolean(),
})

/** A release with its package. `fileName` and `file` (base64) are null before it is built. */
export type FullRelease = z.infer<typeof full>
const full = queued.extend({ fileName: z.string().nullable(), file: z.string().nullable() })

/** The options of {@link releaseClient}. */
export interface ReleaseClientOptions {
  /** The root URL of the service, without `/rest/v1`: `https://example.com`. */
  readonly url: string
  readonly key: string
  /** The header that carries the key. */
  readonly header: string
  /** The brand prefix of the service. */
  readonly brand: string
  readonly signal?: AbortSignal | undefined
}

/** The body of a build request. */
export interface BuildRequest {
  readonly solutionId: string
  readonly version?: string
  readonly releaseNotes?: string
  readonly snapshot?: boolean
}

/** A client of the deployment endpoints of a service. Every method may reject with a RequestError. */
export interface ReleaseClient {
  /** Queues a build. The request is never retried, since each request is a separate build. */
  queue(request: BuildRequest): Promise<QueuedRelease>
  /** Returns the state of a build. */
  state(releaseId: string): Promise<QueuedRelease>
  /** Returns all releases of a solution, newest first. */
  list(solutionId: string): Promise<readonly ListedRelease[]>
  /** Returns a release with its package. */
  release(releaseId: string, solutionId?: string): Promise<FullRelease>
}

const pageSize = 100
const requestTimeout = 30_000
// A package may have hundreds of megabytes.
const downloadTimeout = 600_000

/** Creates a client of the deployment endpoints of a service. */
export function releaseClient(options: ReleaseClientOptions): ReleaseClient {
  const { key, header, brand, signal } = options
  const root = options.url.replace(/\/+$/, '')
  const application = `${brand}-deploy`
  const headers = { [header]: key }

  function urlOf(collection: string, releaseId?: string, query = ''): string {
    const item = releaseId === undefined ? undefined : encodeURIComponent(releaseId)
    const path = encodePath({ application, collection, key: item })
    return `${root}${path}${query}`
  }

  return {
    queue: async (body) => {
      const shape = z.object({ item: queued })
      const url = urlOf('release-queue')
      const common = { url, method: 'POST', headers, body, shape, signal } as const
      return (await sendRequest({ ...common, timeout: requestTimeout })).item
    },
    state: async (releaseId) => {
      const shape = z.object({ item: queued })
      const url = urlOf('release-queue', releaseId)
      const common = { url, method: 'GET', headers, shape, signal } as const
      return (await sendRequest({ ...common, timeout: requestTimeout })).item
    },
    list: async (solutionId) => {
      const shape = z.object({ items: z.array(listed) })
      const releases = new Map<string, ListedRelease>()
      for (let offset = 0; ;) {
        const query = `?solutionId=${encodeURIComponent(solutionId)}&$limit=${pageSize}&$offset=${offset}`
        const url = urlOf('release', undefined, query)
        const common = { url, method: 'GET', headers, shape, signal } as const
        const { items } = await sendRequest({ ...common, timeout: requestTimeout })
        // A release that is added meanwhile shifts the others, so some arrive twice.
        for (const item of items) releases.set(item.releaseId, item)
        offset += items.length
        // The service may limit pages to fewer items than requested.
        if (items.length === 0) return [...releases.values()]
      }
    },
    release: async (releaseId, solutionId) => {
      const query = solutionId === undefined ? '' : `?solutionId=${encodeURIComponent(solutionId)}`
      const url = urlOf('release', releaseId, query)
      const common = { url, method: 'GET', headers, shape: z.object({ item: full }) } as const
      return (await sendRequest({ ...common, signal, timeout: downloadTimeout })).item
    },
  }
}
