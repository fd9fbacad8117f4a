import { z } from 'zod'
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

/** A release as lists have it (section 2.4). */
export type ListedRelease = z.infer<typeof listed>
const listed = z.object(facts)

/** A release as the queue has it. */
export type QueuedRelease = z.infer<typeof queued>
const queued = z.object({
  ...facts,
  status: z.enum(['queued', 'building', 'built', 'failed']),
  snapshot: z.boolean(),
})

/** A release with its package; both are null before it is built. */
export type FullRelease = z.infer<typeof full>
const full = queued.extend({ fileName: z.string().nullable(), file: z.string().nullable() })

/** Whose releases are asked for, and how. */
export interface ReleaseClientOptions {
  /** The root of the service, such as `https://example.com`; what stands before `/rest/v1`. */
  readonly url: string
  readonly key: string
  /** The header that carries the key. */
  readonly header: string
  /** The maker's word of the service. */
  readonly brand: string
  readonly signal?: AbortSignal | undefined
}

/** What a build is asked for with. */
export interface BuildRequest {
  readonly solutionId: string
  readonly version?: string
  readonly releaseNotes?: string
  readonly snapshot?: boolean
}

/** The deployment endpoints of a service (section 4.2). Every call may throw a RequestError. */
export interface ReleaseClient {
  /** Queues a build. It is never sent twice: each would be a build of its own. */
  queue(request: BuildRequest): Promise<QueuedRelease>
  /** How far a build is. */
  state(releaseId: string): Promise<QueuedRelease>
  /** All releases of a solution, the newest first. */
  list(solutionId: string): Promise<readonly ListedRelease[]>
  /** A release with its package. */
  release(releaseId: string, solutionId?: string): Promise<FullRelease>
}

const pageSize = 100
const briefly = 30_000
// A package may have hundreds of megabytes.
const patiently = 600_000

/** Opens the deployment endpoints of a service. */
export function releaseClient(options: ReleaseClientOptions): ReleaseClient {
  const { key, header, brand, signal } = options
  const root = options.url.replace(/\/+$/, '')
  const application = `${brand}-deploy`
  const headers = { [header]: key }

  function address(collection: string, releaseId?: string, query = ''): string {
    const item = releaseId === undefined ? undefined : encodeURIComponent(releaseId)
    const path = encodePath({ application, collection, key: item })
    return `${root}${path}${query}`
  }

  return {
    queue: async (body) => {
      const shape = z.object({ item: queued })
      const url = address('release-queue')
      const common = { url, method: 'POST', headers, body, shape, signal } as const
      return (await sendRequest({ ...common, timeout: briefly })).item
    },
    state: async (releaseId) => {
      const shape = z.object({ item: queued })
      const url = address('release-queue', releaseId)
      const common = { url, method: 'GET', headers, shape, signal } as const
      return (await sendRequest({ ...common, timeout: briefly })).item
    },
    list: async (solutionId) => {
      const shape = z.object({ items: z.array(listed) })
      const releases = new Map<string, ListedRelease>()
      for (let offset = 0; ;) {
        const query = `?solutionId=${encodeURIComponent(solutionId)}&$limit=${pageSize}&$offset=${offset}`
        const url = address('release', undefined, query)
        const common = { url, method: 'GET', headers, shape, signal } as const
        const { items } = await sendRequest({ ...common, timeout: briefly })
        // One that came meanwhile moves the others on: they are seen twice.
        for (const item of items) releases.set(item.releaseId, item)
        offset += items.length
        // The service may give less at a time than it was asked for.
        if (items.length === 0) return [...releases.values()]
      }
    },
    release: async (releaseId, solutionId) => {
      const query = solutionId === undefined ? '' : `?solutionId=${encodeURIComponent(solutionId)}`
      const url = address('release', releaseId, query)
      const common = { url, method: 'GET', headers, shape: z.object({ item: full }) } as const
      return (await sendRequest({ ...common, signal, timeout: patiently })).item
    },
  }
}
