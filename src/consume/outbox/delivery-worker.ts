import { setMaxListeners } from 'node:events'
import { runtime, unref } from '../../runtime.ts'
import type { ServiceHost } from '../../service-part.ts'
import { retryWhileUnavailable } from '../../work/back-off.ts'
import { watchLostJobs } from '../../work/lost-jobs.ts'
import { PollingWorker } from '../../work/polling-worker.ts'
import { repeat, type Repetition } from '../../work/repeat.ts'
import type { Worker } from '../../work/worker-pool.ts'
import { purgeDelivered } from './administration.ts'
import { deliver, markDead, type DeliveryDependencies } from './deliver.ts'
import type { StoredDelivery } from './delivery.ts'
import type { DeliveryStore, DueDelivery } from './delivery-store.ts'
import { arrangeLane, oldLanes } from './lanes.ts'
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
 * A worker that sends due deliveries, takes over the deliveries of workers that died, and removes deliveries that were
 * delivered long ago.
 */
export class DeliveryWorker implements Worker {
  readonly #dependencies: DeliveryDependencies
  readonly #closing = new AbortController()
  readonly #polling: PollingWorker<DueDelivery>
  readonly #monitor: Repetition
  readonly #purging: Repetition
  // With the last delivery of each lane that was found meanwhile. Several at a time would only conflict.
  readonly #lanesArranged = new Map<string, string | undefined>()

  /** Starts the worker. */
  constructor(dependencies: DeliveryWorkerDependencies, concurrency: number) {
    const { options, store } = dependencies
    this.#dependencies = {
      ...dependencies,
      wake: (id, delay) => {
        this.#wakeAfter(id, delay)
      },
    }
    // Each call in progress adds a listener.
    setMaxListeners(0, this.#closing.signal)
    this.#polling = new PollingWorker<DueDelivery>({
      find: (page) => store.due(page, this.#now()),
      idOf: ({ id }) => id,
      // If it fails, the delivery stays claimed until its lease ends, or was not claimed.
      work: (due) => (due.lane === null ? this.#deliver(due) : this.#deliverInLane(due, due.lane)),
      concurrency,
      pollInterval: options.pollInterval,
      report: this.#report,
    })
    this.#monitor = this.#watch()
    this.#purging = repeat(purgeInterval, () => this.#purge(), { startsNow: true })
  }

  /** Looks for deliveries now. The one with this id, or every one, is tried again. */
  wake(id?: string): void {
    this.#polling.wake(id)
  }

  /** Stops claiming deliveries, and resolves when all deliveries in progress have ended or were returned. */
  async stop(): Promise<void> {
    const timer = runtime.setTimeout(() => {
      this.#closing.abort()
    }, stopTimeout)
    await Promise.all([this.#polling.stop(), this.#monitor.stop(), this.#purging.stop()])
    runtime.clearTimeout(timer)
  }

  readonly #report = (error: unknown): void => {
    this.#dependencies.host.report({ type: 'outbox-unavailable', error })
  }

  #now(): string {
    return this.#dependencies.host.now().toISOString()
  }

  #wakeAfter(id: string, delay: number): void {
    // Later ones are found by polling.
    if (delay >= this.#dependencies.options.pollInterval) return
    const timer = runtime.setTimeout(() => {
      this.wake(id)
    }, delay)
    unref(timer)
  }

  /** Delivers one, unless another worker has claimed it. */
  async #deliver(due: DueDelivery): Promise<void> {
    const claimed = await this.#dependencies.store.claim(due)
    if (claimed !== undefined) await deliver(this.#dependencies, claimed, this.#closing.signal)
  }

  async #deliverInLane(due: DueDelivery, lane: string): Promise<void> {
    if (!(await this.#hasTurn(due, lane))) return
    await this.#deliver(due)
    await retryWhileUnavailable(this.#closing.signal, () => this.#arrange(lane))
  }

  /** Returns whether it is the turn of a delivery. Others that wait are put behind, so that they are not found again. */
  async #hasTurn({ id }: DueDelivery, lane: string): Promise<boolean> {
    if (this.#lanesArranged.has(lane)) {
      this.#lanesArranged.set(lane, id)
      return false
    }
    this.#lanesArranged.set(lane, undefined)
    let current: string | undefined
    try {
      current = await this.#arrange(lane)
      return current === id
    } finally {
      const found = this.#lanesArranged.get(lane)
      this.#lanesArranged.delete(lane)
      if (found !== undefined) this.#wakeAfter(current ?? found, 0)
    }
  }

  /** Moves a lane on, and returns the delivery that may be sent. */
  async #arrange(lane: string): Promise<string | undefined> {
    const { host, options } = this.#dependencies
    const time = { now: this.#now(), lease: options.lease }
    const { current, hasMoved } = await arrangeLane(host.storage, lane, time)
    if (hasMoved && current !== undefined) this.#wakeAfter(current, 0)
    return current
  }

  #watch(): Repetition {
    const { options, store } = this.#dependencies
    const { lease, maxLost } = options
    return watchLostJobs<StoredDelivery>({
      ...{ lease, maxLost, closing: this.#closing.signal, report: this.#report },
      claimed: () => store.sending(),
      progressOf: (delivery) => delivery,
      giveBack: (delivery, lost) => this.#giveBack(delivery, lost),
      fail: (delivery, lost) => this.#fail(delivery, lost),
      afterwards: () => this.#arrangeOldLanes(),
    })
  }

  async #giveBack(delivery: StoredDelivery, lost: number): Promise<void> {
    const { host, store } = this.#dependencies
    const { id, endpoint, lane } = delivery
    if (await store.giveBack(delivery, { lost, due: this.#now() })) {
      host.report({ type: 'delivery-lost', deliveryId: id, endpoint, lane })
      this.#wakeAfter(id, 0)
    }
    if (lane !== null) await this.#arrange(lane)
  }

  async #fail(delivery: StoredDelivery, lost: number): Promise<void> {
    const { id: deliveryId, endpoint, lane } = delivery
    const error = `${lost} workers stopped responding during this delivery.`
    const report = { deliveryId, endpoint, lane, error: new Error(error) }
    this.#dependencies.host.report({ type: 'delivery-dead', ...report })
    const dead = { error: null, response: null, changes: { lost, error } }
    await markDead(this.#dependencies, delivery, dead)
    if (lane !== null) await this.#arrange(lane)
  }

  /** Arranges the lanes of workers that have ended before they could do it, among others. */
  async #arrangeOldLanes(): Promise<void> {
    const { host, options } = this.#dependencies
    const lanes = await oldLanes(host.storage, { now: this.#now(), lease: options.lease })
    for (const lane of lanes) {
      if (this.#closing.signal.aborted) return
      await this.#arrange(lane).catch(this.#report)
    }
  }

  #purge(): Promise<void> {
    const { host, options, store } = this.#dependencies
    const until = new Date(host.now().getTime() - options.keepDelivered).toISOString()
    return purgeDelivered({ storage: host.storage, store }, until, this.#closing.signal)
  }
}
