import type { Row } from '../../request/query.ts'
import type { StorageTransaction } from '../../storage/adapter.ts'
import { table, type TablePage } from '../../storage/table.ts'
import { JobTable } from '../../work/jobs.ts'
import type { EndUnfit } from '../../work/unfit-jobs.ts'
import { outboxCollections, type OutboxStorage } from './collections.ts'
import { deliveryOf, type DeliveryState, type StoredDelivery } from './delivery.ts'

/** A delivery that can be claimed, as far as it is read for that. */
export type DueDelivery = Pick<StoredDelivery, 'id' | 'attempt' | 'due' | 'lane'>

/** A delivery to be stored. */
export interface NewDelivery {
  readonly id: string
  readonly key: string | null
  readonly endpoint: string
  readonly lane: string | null
  /** The position in the lane. */
  readonly turn: number
  readonly input: string
  readonly row: string | null
  /** The current time, as an instant. */
  readonly now: string
}

const { deliveries } = outboxCollections
const writing = { mode: 'write', brief: true } as const
const maxSending = 1_000

/** The deliveries as jobs of workers. */
export const deliveryJobs = new JobTable<StoredDelivery, 'id', DeliveryState>({
  collection: deliveries,
  key: 'id',
  stateField: 'state',
  waiting: 'waiting',
  claimed: 'sending',
  jobOf: deliveryOf,
})

/** The deliveries in storage. */
export class DeliveryStore {
  readonly #storage: OutboxStorage
  readonly #endUnfit: EndUnfit<DeliveryState>

  /** Rows that do not fit are passed to `endUnfit`. */
  constructor(storage: OutboxStorage, endUnfit: EndUnfit<DeliveryState>) {
    this.#storage = storage
    this.#endUnfit = endUnfit
  }

  /** Returns a page of the deliveries that are due at a time, the one that is due longest first. */
  async due(
    page: { readonly limit: number; readonly offset: number },
    now: string,
  ): Promise<readonly DueDelivery[]> {
    // Inputs are omitted: there may be many, and they may be large.
    const select = ['id', 'attempt', 'due', 'lane']
    const rows = await this.#inState('waiting', { ...page, sort: ['due', 'id'], select })
    const waiting = rows as unknown as readonly DueDelivery[]
    return waiting.filter(({ due }) => Date.parse(due) <= Date.parse(now))
  }

  /** Returns the deliveries in progress. */
  async sending(): Promise<readonly StoredDelivery[]> {
    return (await this.#inState('sending', { limit: maxSending })).map(deliveryOf)
  }

  /**
   * waiting → sending, as a new attempt. Returns undefined if another worker has claimed it. A delivery with a lane must
   * be the current one of that.
   */
  claim(delivery: DueDelivery): Promise<StoredDelivery | undefined> {
    return this.write((on) => deliveryJobs.claim(on, delivery))
  }

  /** sending → waiting, with further changes. Returns whether the claim was kept until then. */
  async giveBack(
    claimed: StoredDelivery,
    changes: Row & { readonly due: string },
  ): Promise<boolean> {
    return (await this.write((on) => deliveryJobs.giveBack(on, claimed, changes))) !== undefined
  }

  /** Runs work in a short transaction. */
  write<Result>(work: (on: StorageTransaction) => Promise<Result>): Promise<Result> {
    return this.#storage.transaction(writing, work)
  }

  async #inState(state: 'waiting' | 'sending', page: TablePage): Promise<readonly Row[]> {
    const { rows, unfit } = await deliveryJobs.inState(this.#storage, state, page)
    await this.#endUnfit(state, unfit)
    return rows
  }
}

/** Stores a new delivery in the transaction of an event. It touches no row that others touch. */
export async function addDelivery(
  storage: StorageTransaction,
  { now, turn, ...delivery }: NewDelivery,
): Promise<void> {
  await table(storage, deliveries).insert({
    ...delivery,
    turn: delivery.lane === null ? null : turn,
    state: 'waiting',
    holdsLane: false,
    attempt: 0,
    failures: 0,
    lost: 0,
    created: now,
    due: now,
  })
}

/**
 * sending → delivered or dead. Returns whether the claim was kept until then; otherwise nothing is changed. Its lane must
 * be arranged after the commit.
 */
export async function settle(
  storage: StorageTransaction,
  claimed: StoredDelivery,
  changes: Row & { readonly state: 'delivered' | 'dead'; readonly ended: string },
): Promise<boolean> {
  return (await deliveryJobs.changeClaimed(storage, claimed, changes)) !== undefined
}
