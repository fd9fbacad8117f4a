import type { ResponseCache } from './cache/response-cache.ts'
import type { PublishedCollection } from './definition/published.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { CompleteOptions } from './options.ts'
import type { Publication } from './publication.ts'
import type { Security } from './security/secure.ts'
import type { AdministeredService } from './service-part.ts'
import type { StorageAdapter } from './storage/adapter.ts'
import { inspectStorage } from './storage/inspection/inspect-storage.ts'

/** The parts of a service that its administration uses. */
export interface AdministeredParts {
  readonly storage: StorageAdapter
  readonly cache: Pick<ResponseCache, 'statistics'> | undefined
  readonly security: Security
  readonly publication: Publication
  /** Resolves once storage is open. */
  readonly opened: () => MaybePromise<void>
  /** Returns the collections that storage keeps. */
  readonly kept: () => readonly PublishedCollection[]
}

/** Returns a service as its administration sees it. */
export function administeredService(
  { limits, serviceVersion }: Pick<CompleteOptions, 'limits' | 'serviceVersion'>,
  { storage, cache, security, publication, opened, kept }: AdministeredParts,
): AdministeredService {
  return {
    security,
    limits,
    serviceVersion,
    published: publication.collections,
    isDurable: storage.supports.durable,
    statistics: () => ({
      cache: cache?.statistics() ?? null,
      connections: storage.connections?.() ?? [],
    }),
    inspect: async (progress = () => undefined) => {
      // A table that does not fit is a result.
      const opening = (async () => opened())()
      await (storage.inspect === undefined ? opening : opening.catch(() => undefined))
      return inspectStorage(storage, kept(), progress)
    },
  }
}
