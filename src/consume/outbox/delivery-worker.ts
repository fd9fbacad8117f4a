import { setMaxListeners } from 'node:events'
import type { ServiceHost } from '../../service-part.ts'
import { startPolling, type PollingWorker } from '../../work/polling-worker.ts'
import { retryWhileUnavailable } from '../../work/back-off.ts'
import { progressTracker } from '../../work/progress-tracker.ts'
import { repeat } from '../../work/repeat.ts'
import { purgeDelivered } from './administration.ts'
import { deliver, markDead, type DeliveryDependencies } from './deliver.ts'
import type { StoredDelivery } from './delivery.ts'
import type { DeliveryStore, DueDelivery } from './delivery-store.ts'
import type { CompleteOutbox } from './options.ts'

/** What the workers of this process use. */
export interface DeliveryWorkerDependencies {
  readonly options: CompleteOutbox
  readonly host: ServiceHost
  readonly store: DeliveryStore
}

/** Milliseconds that calls in progress may take when their worker is stopped. */
const stopTimeout = 5_000
const purgeInterval = 3_600_000

/**
 * Starts to send deliveries that are due, to take over those of workers that died, and to remove those that
 * were delivered long ago.
 */
export function startDeliveryWorker(
  dependencies: DeliveryWorkerDependencies,
  concurrency: number,
): PollingWorker {
  const { options, host, store } = dependencies
  const { pollInterval, lease, keepDelivered } = options
  const closing = new AbortController()
  // Each call in progress adds a listener.
  setMaxListeners(0, closing.signal)
  const now = (): string => host.now().toISOString()
  const report = (error: unknown): void => {
    host.report({ type: 'outbox-unavailable', error })
  }
  const wake = (id: string, delay: number): void => {
    // Later ones are found by polling.
    if (delay < pollInterval) {
      const timer = setTimeout(() => {
        worker.wake(id)
      }, delay)
      timer.unref()
    }
  }
  const all: DeliveryDependencies = { ...dependencies, wake }

  /** Moves a lane on, and returns the delivery that may be sent. */
  async function arrange(lane: string): Promise<string | undefined> {
    const { current, hasMoved } = await store.arrange(lane, { now: now(), lease })
    if (hasMoved && current !== undefined) wake(current, 0)
    return current
  }

  /** Sends a delivery, unless another worker has claimed it. */
  async function send(due: DueDelivery): Promise<void> {
    const claimed = await store.claim(due)
    if (claimed !== undefined) await deliver(all, claimed, closing.signal)
  }

  // With the last delivery of each lane that was found meanwhile. Several at a time would only conflict.
  const lanesArranged = new Map<string, string | undefined>()

  /** Returns whether it is the turn of a delivery. Others that wait are put behind, so that they are not found again. */
  async function hasTurn({ id }: DueDelivery, lane: string): Promise<boolean> {
    if (lanesArranged.has(lane)) {
      lanesArranged.set(lane, id)
      return false
    }
    lanesArranged.set(lane, undefined)
    let current: string | undefined
    try {
      current = await arrange(lane)
      return current === id
    } finally {
      const found = lanesArranged.get(lane)
      lanesArranged.delete(lane)
      if (found !== undefined) wake(current ?? found, 0)
    }
  }

  async function sendInLane(due: DueDelivery, lane: string): Promise<void> {
    if (!(await hasTurn(due, lane))) return
    await send(due)
    await retryWhileUnavailable(closing.signal, () => arrange(lane))
  }

  const worker = startPolling<DueDelivery>({
    find: (page) => store.due(page, now()),
    idOf: ({ id }) => id,
    work: async (due) => {
      try {
        await (due.lane === null ? send(due) : sendInLane(due, due.lane))
      } catch (error) {
        // It stays claimed until its lease ends, or was not claimed.
        report(error)
      }
    },
    concurrency,
    pollInterval,
    report,
  })

  const { stalled } = progressTracker<StoredDelivery>(lease, (delivery) => delivery)
  /** Does something for each one. One that fails does not keep the others from it. */
  async function forEach<One>(ones: readonly One[], recover: (one: One) => Promise<void>) {
    for (const one of ones) {
      if (closing.signal.aborted) return
      await recover(one).catch(report)
    }
  }
  const monitor = repeat(lease / 2, async () => {
    await forEach(stalled(await store.sending()), async (delivery) => {
      await takeBack(all, delivery)
      if (delivery.lane !== null) await arrange(delivery.lane)
    })
    // Those of workers that have ended before they could do it, among others.
    await forEach(await store.oldLanes({ now: now(), lease }), async (lane) => {
      await arrange(lane)
    })
  })
  const purge = (): Promise<void> => {
    const until = new Date(host.now().getTime() - keepDelivered).toISOString()
    return purgeDelivered(host.storage, store, until)
  }
  const purging = repeat(purgeInterval, purge)
  purge().catch(() => undefined)

  return {
    wake: (id) => {
      worker.wake(id)
    },
    stop: async () => {
      const timer = setTimeout(() => {
        closing.abort()
      }, stopTimeout)
      await Promise.all([worker.stop(), monitor.stop(), purging.stop()])
      clearTimeout(timer)
    },
  }
}

/** Gives back a delivery whose worker stopped responding, or marks it dead if too many workers have. */
async function takeBack(
  dependencies: DeliveryDependencies,
  delivery: StoredDelivery,
): Promise<void> {
  const { options, host, store, wake } = dependencies
  const { id, endpoint, lane } = delivery
  const lost = delivery.lost + 1
  if (lost >= options.maxLost) {
    const error = `${lost} workers stopped responding during this delivery.`
    host.report({ type: 'delivery-dead', deliveryId: id, endpoint, lane, error: new Error(error) })
    await markDead(dependencies, delivery, {
      error: null,
      response: null,
      changes: { lost, error },
    })
    return
  }
  const due = host.now().toISOString()
  if (!(await store.giveBack(delivery, { lost, due }))) return
  host.report({ type: 'delivery-lost', deliveryId: id, endpoint, lane })
  wake(id, 0)
}
