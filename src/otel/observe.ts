import type { BatchObservableResult, Meter } from '@opentelemetry/api'
import { isServiceError } from '../errors.ts'
import type { BuildLoad, ConnectionLoad, DeliveryLoad, Workload } from '../workload.ts'
import { reportToDiag } from './follow.ts'

/** What the gauges read of a service. */
export interface ObservedService {
  statistics(): { readonly connections: readonly ConnectionLoad[] }
  workload(): Promise<Workload>
}

/**
 * Observes the pools, the outbox and the builds of a service each time that the metrics are collected, until the returned
 * function is called. `name` distinguishes the pools of several services.
 */
export function observeService(
  meter: Meter,
  service: ObservedService,
  name: string | undefined,
): () => void {
  // Names, units and kinds of the semantic conventions for databases.
  const connections = meter.createObservableUpDownCounter('db.client.connection.count', {
    description: 'The connections of a pool, by state.',
    unit: '{connection}',
  })
  const maximum = meter.createObservableUpDownCounter('db.client.connection.max', {
    description: 'The most connections that a pool opens.',
    unit: '{connection}',
  })
  const pending = meter.createObservableUpDownCounter('db.client.connection.pending_requests', {
    description: 'The calls that wait for a connection of a pool.',
    unit: '{request}',
  })
  // Gauges, because each process that shares the storage reports the same numbers: their sum would be wrong.
  const deliveries = meter.createObservableGauge('rowgate.outbox.deliveries', {
    description: 'The deliveries of the outbox that are not delivered, by state.',
    unit: '{delivery}',
  })
  const releases = meter.createObservableGauge('rowgate.build.releases', {
    description: 'The releases that are not built yet, by state.',
    unit: '{release}',
  })
  const instruments = [connections, maximum, pending, deliveries, releases]

  function observePool(result: BatchObservableResult, pool: ConnectionLoad): void {
    const own = name === undefined ? pool.name : `${name} ${pool.name}`
    const attributes = { 'db.client.connection.pool.name': own }
    const state = (value: string) => ({ ...attributes, 'db.client.connection.state': value })
    result.observe(connections, pool.used, state('used'))
    if (pool.idle !== null) result.observe(connections, pool.idle, state('idle'))
    if (pool.max !== null) result.observe(maximum, pool.max, attributes)
    result.observe(pending, pool.pending, attributes)
  }

  const collect = async (result: BatchObservableResult): Promise<void> => {
    try {
      for (const pool of service.statistics().connections) observePool(result, pool)
      const { deliveries: ofOutbox, builds } = await service.workload()
      const common = name === undefined ? {} : { 'rowgate.service': name }
      for (const [state, count] of countsOf(ofOutbox)) {
        result.observe(deliveries, count, { ...common, 'rowgate.delivery.state': state })
      }
      for (const [state, count] of countsOf(builds)) {
        result.observe(releases, count, { ...common, 'rowgate.release.state': state })
      }
    } catch (error) {
      // A service that is closed has nothing to report.
      if (!isServiceError(error)) reportToDiag(error)
    }
  }
  meter.addBatchObservableCallback(collect, instruments)
  return () => meter.removeBatchObservableCallback(collect, instruments)
}

function countsOf(load: DeliveryLoad | BuildLoad | null): readonly (readonly [string, number])[] {
  return Object.entries(load ?? {}) as [string, number][]
}
