import type { Principal } from './definition/principal.ts'
import type { PublishedCollection } from './definition/published.ts'
import type { WithinTransaction } from './in-process.ts'
import type { Report } from './observation/reports.ts'
import type { CacheStatistics } from './cache/response-cache.ts'
import type { Limits } from './security/limiter.ts'
import type { Security } from './security/secure.ts'
import type { StorageAdapter } from './storage/adapter.ts'
import type { InspectionProgress, StorageProblem } from './storage/problem.ts'
import type { ConnectionLoad, Workload } from './workload.ts'

/** The member that makes an option or application of `createService` a part of the service. */
export const servicePart: unique symbol = Symbol.for('rowgate.servicePart')

/** A part of a service that has tables and work of its own, such as an outbox. */
export interface ServicePart {
  /** The tables that storage opens for it. */
  readonly collections: readonly PublishedCollection[]
  /** Called once, before storage is opened. Throws a TypeError if it is already a part of a service. */
  join(host: ServiceHost): void
  /** Called when storage is open. */
  opened(): void
  /** Returns what waits and runs in the part. */
  workload(): Promise<Partial<Pick<Workload, 'deliveries' | 'builds'>>>
  /** Called when the service begins to close. Resolves once the part no longer uses storage. */
  close(): Promise<void>
}

/** An option or application of `createService` that is a part of the service. */
export interface WithServicePart {
  readonly [servicePart]: ServicePart
}

/** What a part can use of its service. */
export interface ServiceHost {
  /** The storage of the service. Its methods wait until it is open. */
  readonly storage: Pick<StorageAdapter, 'filter' | 'transaction'>
  /** The stored collections that the service publishes. */
  readonly collections: readonly PublishedCollection[]
  /**
   * Runs several events in one transaction, as `service.as(principal).transaction` does with `repeat`, also while the
   * service closes.
   */
  transaction<Result>(
    principal: Principal,
    work: (within: WithinTransaction<object>) => Promise<Result>,
  ): Promise<Result>
  readonly report: Report
  readonly now: () => Date
  /** The service itself, for its administration. */
  readonly service: AdministeredService
}

/** What a service counts. */
export interface ServiceStatistics {
  /** The response cache; null if the service has none. */
  readonly cache: CacheStatistics | null
  /** The pools of connections to databases, by unique names. Empty for storage without a pool. */
  readonly connections: readonly ConnectionLoad[]
}

/** What the administration of a service can use of it. */
export interface AdministeredService {
  readonly security: Pick<Security, 'keys' | 'users' | 'findUser' | 'providers'>
  readonly limits: Limits
  /** All collections that the service publishes, including those that functions serve. */
  readonly published: readonly PublishedCollection[]
  readonly isDurable: boolean
  readonly serviceVersion: string | false
  statistics(): ServiceStatistics
  /** Returns the tables that do not fit, and the rows that can't be published. */
  inspect(progress?: InspectionProgress): Promise<readonly StorageProblem[]>
}

/** The member by which administration reads a deployment or an outbox. */
export const administeredPart: unique symbol = Symbol.for('rowgate.administeredPart')

/** A deployment or an outbox, for administration. */
export interface AdministeredPart {
  /** Returns the storage of the service that it belongs to. Throws a TypeError if there is none. */
  storage(): Pick<StorageAdapter, 'filter'>
  /** Returns what waits and runs in the part. */
  workload(): Promise<Partial<Pick<Workload, 'deliveries' | 'builds'>>>
}

/** Returns whether a value is a part of a service. */
export function isServicePart(value: unknown): value is WithServicePart {
  return typeof value === 'object' && value !== null && servicePart in value
}
