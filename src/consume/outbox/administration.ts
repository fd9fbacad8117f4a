import { isUuid } from '../../definition/field-type.ts'
import { equal, type Row } from '../../request/query.ts'
import type { StorageTransaction } from '../../storage/adapter.ts'
import { readFitting } from '../../storage/fitting-rows.ts'
import { filterTable, table, tableReader } from '../../storage/table.ts'
import type { DeliveryLoad } from '../../workload.ts'
import { outboxCollections, type OutboxStorage } from './collections.ts'
import {
  deliveryOf,
  detailsOf,
  shownFields,
  type Delivery,
  type DeliveryDetails,
  type DeliveryState,
  type StoredDelivery,
} from './delivery.ts'
import type { DeliveryStore } from './delivery-store.ts'
import { freshStart } from './retry-deliveries.ts'

/** Which deliveries `list` returns. */
export interface ListOptions {
  /** Default: every state. */
  readonly state?: DeliveryState | undefined
  /** Default 100. */
  readonly limit?: number | undefined
  /** Default 0. */
  readonly offset?: number | undefined
}

const { deliveries } = outboxCollections
const purgedAtOnce = 100

/** Returns deliveries in the order in which they were stored. */
export async function listDeliveries(
  storage: Pick<OutboxStorage, 'filter'>,
  { state, limit = 100, offset = 0 }: ListOptions,
): Promise<readonly Delivery[]> {
  const { rows } = await filterTable(storage, deliveries, {
    conditions: state === undefined ? [] : [equal('state', state)],
    search: null,
    // Ids are in the order of creation, and are the key.
    sort: [{ field: 'id', descending: false }],
    limit,
    offset,
    select: shownFields,
    count: false,
  })
  // Rows may have more than the selected fields.
  return rows.map((row) => shown(deliveryOf(row)))
}

/** Returns the numbers of deliveries that are not delivered. */
export async function countDeliveries(
  storage: Pick<OutboxStorage, 'filter'>,
): Promise<DeliveryLoad> {
  const stored = tableReader(storage, deliveries)
  // One after the other, so that a measurement takes one connection of a pool.
  return {
    behind: await stored.count({ state: 'behind' }),
    waiting: await stored.count({ state: 'waiting' }),
    sending: await stored.count({ state: 'sending' }),
    dead: await stored.count({ state: 'dead' }),
  }
}

/** Returns a delivery with what was sent; undefined if there is none. */
export async function getDelivery(
  storage: Pick<OutboxStorage, 'filter'>,
  id: string,
): Promise<DeliveryDetails | undefined> {
  if (!isUuid(id)) return undefined
  const { rows } = await filterTable(storage, deliveries, {
    conditions: [equal('id', id.toLowerCase())],
    search: null,
    sort: [{ field: 'id', descending: false }],
    limit: 1,
    offset: 0,
    select: deliveries.allNames,
    count: false,
  })
  return rows[0] && detailsOf(deliveryOf(rows[0]))
}

/** When a delivery is changed, as an instant, and the last position in its lane. */
export interface ChangeTime {
  readonly now: string
  readonly turn: number
}

/**
 * Makes a dead or waiting delivery due now. If the lane of a dead delivery has continued, the delivery moves to its end.
 * Throws an Error if the delivery does not exist, or has another state.
 */
export async function retryDelivery(
  storage: StorageTransaction,
  id: string,
  { now, turn }: ChangeTime,
): Promise<Delivery> {
  const delivery = await requireIn(storage, id, ['dead', 'waiting'])
  if (delivery.state === 'waiting') return change(storage, delivery, { due: now })
  return change(storage, delivery, freshStart(delivery, { now, turn }))
}

/**
 * Removes a delivery that was not delivered. Throws an Error if the delivery does not exist, is being sent, or was
 * delivered.
 */
export async function dropDelivery(storage: StorageTransaction, id: string): Promise<Delivery> {
  const delivery = await requireIn(storage, id, ['behind', 'waiting', 'dead'])
  const { state, attempt } = delivery
  const removed = await table(storage, deliveries).remove({ id, state, attempt })
  if (removed === undefined) throw changedMeanwhile(id)
  return shown(delivery)
}

/** Removes what was delivered by a time, which is an instant, until `closing` is aborted. */
export async function purgeDelivered(
  {
    storage,
    store,
  }: {
    readonly storage: Pick<OutboxStorage, 'filter'>
    readonly store: Pick<DeliveryStore, 'write'>
  },
  until: string,
  closing?: AbortSignal,
): Promise<void> {
  for (;;) {
    // The order of the index for `due`, which is nearly the order in which they were delivered.
    const part = { sort: ['due'], limit: purgedAtOnce, select: ['id', 'due', 'ended'] }
    const { rows } = await readFitting(storage, deliveries, { state: 'delivered' }, part)
    const old = (rows as unknown as readonly Delivery[]).filter(
      ({ ended, due }) => Date.parse(ended ?? due) <= Date.parse(until),
    )
    if (old.length === 0) return
    await store.write(async (transaction) => {
      for (const { id } of old) {
        await table(transaction, deliveries).remove({ id, state: 'delivered' })
      }
    })
    if (old.length < purgedAtOnce || closing?.aborted === true) return
  }
}

async function requireIn(
  storage: StorageTransaction,
  id: string,
  states: readonly DeliveryState[],
): Promise<StoredDelivery> {
  const row = await table(storage, deliveries).one({ id })
  if (row === undefined) throw new Error(`There is no delivery ${id}.`)
  const delivery = deliveryOf(row)
  if (states.includes(delivery.state)) return delivery
  throw new Error(`The delivery ${id} is ${delivery.state}; it must be ${states.join(' or ')}.`)
}

async function change(
  storage: StorageTransaction,
  { id, state, attempt }: StoredDelivery,
  changes: Row,
): Promise<Delivery> {
  const row = await table(storage, deliveries).change({ id, state, attempt }, changes)
  if (row === undefined) throw changedMeanwhile(id)
  return shown(deliveryOf(row))
}

function shown(delivery: StoredDelivery): Delivery {
  return Object.fromEntries(
    shownFields.map((name) => [name, delivery[name]]),
  ) as unknown as Delivery
}

function changedMeanwhile(id: string): Error {
  return new Error(`A worker has changed the delivery ${id} meanwhile. Try again.`)
}
