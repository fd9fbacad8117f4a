import type { ApplicationDefinitions } from '../../definition/application.ts'
import { defineCollection } from '../../definition/collection.ts'
import { boolean, instant, integer, text, uuid } from '../../definition/field.ts'
import { publishCollection } from '../../definition/published.ts'
import type { StorageAdapter } from '../../storage/adapter.ts'
import type { DeliveryState } from './delivery.ts'

/** The part of an open storage that the outbox uses. */
export type OutboxStorage = Pick<StorageAdapter, 'filter' | 'transaction'>

/** The internal application of the stored collections. It is not published. */
const application = 'rowgate-outbox'

/**
 * The states of a delivery. `waiting`: it is sent once it is due, unless a worker finds it behind others. `behind`: an
 * earlier delivery of its lane is not finished. `sending`: a worker has claimed it.
 */
export const deliveryStates = [
  'behind',
  'waiting',
  'sending',
  'delivered',
  'dead',
] as const satisfies readonly DeliveryState[]

const deliveries = defineCollection({
  key: 'id',
  table: 'rowgate_deliveries',
  description: 'The calls of an outbox.',
  index: [
    ['state', 'due', 'id'],
    ['lane', 'state', 'turn'],
  ],
  fields: {
    id: uuid({ description: 'It is also the idempotency key of the call, unless there is a key.' }),
    key: text({ description: 'The idempotency key of the call.' }),
    endpoint: text({ required: true, description: 'The name of the endpoint in the outbox.' }),
    lane: text({ description: 'Deliveries of one lane are sent one after the other.' }),
    turn: integer({ description: 'The position in the lane: the time at which it was enqueued.' }),
    holdsLane: boolean({ required: true, description: 'Whether it is dead and the lane waits.' }),
    state: text({ required: true, enumeration: deliveryStates }),
    input: text({ required: true, description: 'The input of the call, as JSON.' }),
    row: text({ description: 'The row that rules and handlers read with caller, as JSON.' }),
    attempt: integer({
      required: true,
      description: 'The number of claims. Stale workers are recognized by it.',
    }),
    failures: integer({ required: true, description: 'The number of failed calls.' }),
    lost: integer({
      required: true,
      description: 'The number of workers that stopped responding during it.',
    }),
    created: instant({ required: true }),
    due: instant({ required: true, description: 'The time from which it may be sent.' }),
    ended: instant({ description: 'The time at which it was delivered, or died.' }),
    error: text({ description: 'Why the last attempt failed.' }),
    response: text({
      description:
        'A response that rules and handlers have rejected, or that of a failed call, as JSON.',
    }),
  },
})

const lanes = defineCollection({
  key: 'lane',
  table: 'rowgate_lanes',
  description: 'The lanes with deliveries that are not finished. Only workers write them.',
  index: [['checked', 'lane']],
  fields: {
    lane: text(),
    delivery: uuid({ required: true, description: 'The delivery that may be sent.' }),
    version: integer({ required: true, description: 'It changes with each write.' }),
    checked: instant({ required: true, description: 'The time of the last write.' }),
  },
})

/**
 * The tables of an outbox, for applications that create their tables themselves:
 * `sqliteSchema({ ...applications, ...outboxTables })`.
 */
export const outboxTables: ApplicationDefinitions = Object.freeze({
  [application]: Object.freeze({ collections: Object.freeze({ deliveries, lanes }) }),
})

/** The stored collections of an outbox. */
export const outboxCollections = Object.freeze({
  deliveries: publishCollection(application, 'deliveries', deliveries),
  lanes: publishCollection(application, 'lanes', lanes),
})
