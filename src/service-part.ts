import type { Principal } from './definition/principal.ts'
import type { PublishedCollection } from './definition/published.ts'
import type { WithinTransaction } from './in-process.ts'
import type { Report } from './observation/reports.ts'
import type { StorageAdapter } from './storage/adapter.ts'
import type { Workload } from './workload.ts'

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
}

/** Returns whether a value is a part of a service. */
export function isServicePart(value: unknown): value is WithServicePart {
  return typeof value === 'object' && value !== null && servicePart in value
}
