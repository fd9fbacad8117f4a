import type { Row } from '../../request/query.ts'
import type { StorageTransaction } from '../../storage/adapter.ts'
import { readFitting } from '../../storage/fitting-rows.ts'
import { table, type TablePage } from '../../storage/table.ts'
import { nextAttempt } from '../../work/attempts.ts'
import { outboxCollections, type OutboxStorage } from './collections.ts'
import { deliveryOf, type StoredDelivery } from './delivery.ts'
import { arrangeLane, oldLanes, type ArrangeOptions, type LaneTurn } from './lanes.ts'
import type { BuryUnfit } from './unfit-deliveries.ts'

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

/**
 * The deliveries in storage. A worker claims a delivery by compare-and-set before it sends it. Every later
 * change compares the attempt, so a worker that has lost its claim changes nothing.
 */
export interface DeliveryStore {
  /** Returns a page of the deliveries that are due at a time, the one that is due longest first. */
  due(
    page: { readonly limit: number; readonly offset: number },
    now: string,
  ): Promise<readonly DueDelivery[]>
  /** Returns the deliveries in progress. */
  sending(): Promise<readonly StoredDelivery[]>
  /**
   * waiting → sending, as a new attempt. Returns undefined if another worker has claimed it. A delivery with a lane must
   * be the current one of that.
   */
  claim(delivery: DueDelivery): Promise<StoredDelivery | undefined>
  /** Moves a lane on if its delivery is finished; see {@link arrangeLane}. */
  arrange(lane: string, options: ArrangeOptions): Promise<LaneTurn>
  /** Returns lanes that were not arranged for a lease. */
  oldLanes(options: ArrangeOptions): Promise<readonly string[]>
  /** sending → waiting, with further changes. Returns whether the claim was kept until then. */
  giveBack(claimed: StoredDelivery, changes: Row & { readonly due: string }): Promise<boolean>
  /** Runs work in a short transaction. */
  write<Result>(work: (storage: StorageTransaction) => Promise<Result>): Promise<Result>
}

const { deliveries } = outboxCollections
const writing = { mode: 'write', brief: true } as const
const maxSending = 1_000

/** Creates the store of the deliveries in a storage. Rows that do not fit are passed to `buryUnfit`. */
export function deliveryStore(
  storage: OutboxStorage,
  buryUnfit: BuryUnfit = () => Promise.resolve(),
): DeliveryStore {
  const write: DeliveryStore['write'] = (work) => storage.transaction(writing, work)

  async function inState(state: 'waiting' | 'sending', page: TablePage): Promise<readonly Row[]> {
    const { rows, unfit } = await readFitting(storage, deliveries, { state }, page)
    await buryUnfit(state, unfit)
    return rows
  }

  return {
    due: async (page, now) => {
      // Inputs are omitted: there may be many, and they may be large.
      const select = ['id', 'attempt', 'due', 'lane']
      const rows = await inState('waiting', { ...page, sort: ['due', 'id'], select })
      const waiting = rows as unknown as readonly DueDelivery[]
      return waiting.filter(({ due }) => Date.parse(due) <= Date.parse(now))
    },
    arrange: (lane, options) => arrangeLane(storage, lane, options),
    oldLanes: (options) => oldLanes(storage, options),
    sending: async () => (await inState('sending', { limit: maxSending })).map(deliveryOf),
    claim: ({ id, attempt }) =>
      write(async (transaction) => {
        const conditions = { id, attempt, state: 'waiting' }
        const changes = { state: 'sending', attempt: nextAttempt(attempt) }
        const row = await table(transaction, deliveries).change(conditions, changes)
        return row && deliveryOf(row)
      }),
    giveBack: (claimed, changes) =>
      write(
        async (transaction) =>
          (await changeClaimed(transaction, claimed, { ...changes, state: 'waiting' })) !==
          undefined,
      ),
    write,
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
  return (await changeClaimed(storage, claimed, changes)) !== undefined
}

async function changeClaimed(
  storage: StorageTransaction,
  { id, attempt }: StoredDelivery,
  changes: Row,
): Promise<StoredDelivery | undefined> {
  const row = await table(storage, deliveries).change({ id, attempt, state: 'sending' }, changes)
  return row && deliveryOf(row)
}
