import { orderedId } from '../../definition/ordered-id.ts'
import { joinTransaction } from '../../events/units/join-transaction.ts'
import type { ServiceHost } from '../../service-part.ts'
import { endUnfitJobs, type EndUnfit } from '../../work/unfit-jobs.ts'
import { WorkerPool } from '../../work/worker-pool.ts'
import type { dropDelivery, retryDelivery } from './administration.ts'
import type { OutboxStorage } from './collections.ts'
import type { Delivery, DeliveryState } from './delivery.ts'
import { addDelivery, deliveryJobs, DeliveryStore, type NewDelivery } from './delivery-store.ts'
import { DeliveryWorker } from './delivery-worker.ts'
import { arrangeLane } from './lanes.ts'
import type { CompleteOutbox } from './options.ts'
import { retryDeliveries, type RetryFilter } from './retry-deliveries.ts'

const turnsPerMillisecond = 100
const unfit = { attempt: 0, failures: 0, lost: 0, holdsLane: false } as const
const unfitReason = 'Values of the stored delivery do not fit their fields.'

/** An outbox as a part of its service. */
export class JoinedOutbox {
  readonly workers: WorkerPool<DeliveryWorker>
  readonly #options: CompleteOutbox
  readonly #host: ServiceHost
  readonly #store: DeliveryStore
  #lastTurn = 0

  constructor(options: CompleteOutbox, host: ServiceHost) {
    const store = new DeliveryStore(host.storage, endUnfitDeliveries(host, options.lease))
    this.#options = options
    this.#host = host
    this.#store = store
    this.workers = new WorkerPool(
      (concurrency) => new DeliveryWorker({ options, host, store }, concurrency),
    )
  }

  get storage(): OutboxStorage {
    return this.#host.storage
  }

  /** Stores a call in the transaction of a context, and wakes the workers after the commit. */
  enqueue(
    context: object,
    call: Pick<NewDelivery, 'endpoint' | 'key' | 'lane' | 'input' | 'row'>,
  ): Promise<string> {
    const id = orderedId(this.#host.now())
    const delivery = { ...call, id, turn: this.#nextTurn(), now: this.#now() }
    return joinTransaction(context, 'enqueue', async ({ storage, onCommit }) => {
      await addDelivery(storage, delivery)
      onCommit(() => {
        this.#wake(id)
      })
      return id
    })
  }

  /** Changes a delivery by hand, and moves its lane on. */
  async change(change: typeof retryDelivery | typeof dropDelivery, id: string): Promise<Delivery> {
    const at = { now: this.#now(), turn: this.#nextTurn() }
    const delivery = await this.#store.write((on) => change(on, id.toLowerCase(), at))
    const { lane } = delivery
    const time = { now: at.now, lease: this.#options.lease }
    // If it fails, workers do it later.
    if (lane !== null) await arrangeLane(this.storage, lane, time).catch(() => undefined)
    this.#wake()
    return delivery
  }

  /** Makes deliveries due now, and returns their number. */
  async retry(filter: RetryFilter): Promise<number> {
    const nextTurn = (): number => this.#nextTurn()
    const retried = await retryDeliveries(this.storage, filter, { now: this.#now(), nextTurn })
    this.#wake()
    return retried
  }

  #now(): string {
    return this.#host.now().toISOString()
  }

  /** Returns the next position in a lane: the time, but never one that it has returned. */
  #nextTurn(): number {
    const turn = this.#host.now().getTime() * turnsPerMillisecond
    this.#lastTurn = Math.max(this.#lastTurn + 1, turn)
    return this.#lastTurn
  }

  #wake(id?: string): void {
    for (const worker of this.workers.running) worker.wake(id)
  }
}

/** Returns the function that makes deliveries dead whose stored values do not fit their fields. */
function endUnfitDeliveries(
  { storage, now, report }: Pick<ServiceHost, 'storage' | 'now' | 'report'>,
  lease: number,
): EndUnfit<DeliveryState> {
  return endUnfitJobs({
    storage,
    jobs: deliveryJobs,
    now,
    changes: (ended) => ({ ...unfit, state: 'dead', due: ended, ended, error: unfitReason }),
    onEnd: async ({ job, error, now: ended }) => {
      const { id, endpoint, lane } = job
      report({ type: 'delivery-dead', deliveryId: id, endpoint, lane, error })
      if (lane !== null) await arrangeLane(storage, lane, { now: ended, lease })
    },
    report: (error) => {
      report({ type: 'outbox-unavailable', error })
    },
    cannot: 'The delivery cannot be changed.',
  })
}
