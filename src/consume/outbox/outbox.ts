import * as z from 'zod/mini'
import { text, wholeNumber } from '../../checks/option-shapes.ts'
import { suggestion } from '../../checks/nearest-name.ts'
import { completeOptions } from '../../checks/options.ts'
import { requirePlainJson } from '../../checks/plain-object.ts'
import { lossInJson, stringifyJson } from '../../protocol/json-text.ts'
import {
  administeredPart,
  servicePart,
  type AdministeredPart,
  type ServiceHost,
  type WithServicePart,
} from '../../service-part.ts'
import type { Worker } from '../../work/worker-pool.ts'
import {
  countDeliveries,
  dropDelivery,
  getDelivery,
  listDeliveries,
  retryDelivery,
  type ListOptions,
} from './administration.ts'
import { isIdempotencyKey } from '../connection/prepare-request.ts'
import { deliveryStates, outboxCollections } from './collections.ts'
import type { Delivery, DeliveryDetails } from './delivery.ts'
import { JoinedOutbox } from './joined-outbox.ts'
import { retryShape, type RetryFilter } from './retry-deliveries.ts'
import {
  completeOutbox,
  type DeliveryInput,
  type DeliveryRow,
  type OutboxEndpoints,
  type OutboxOptions,
} from './options.ts'

/** How a delivery is stored. */
export interface EnqueueOptions<Row = object> {
  /**
   * Deliveries of one lane are sent one after the other: `orders/4711`. One that was committed before another was
   * enqueued is sent before it. The lane may contain several endpoints. Default: the delivery is sent without regard to
   * others.
   */
  readonly lane?: string | undefined
  /** The row that rules and handlers read with `caller`. It must have a JSON form. Default: the input. */
  readonly row?: Row | undefined
  /**
   * The idempotency key of the call, 1 to 255 printable ASCII characters, without a space at either end. To repeat a
   * call whose result is not known, use its key, so that the effect happens once. Default: the id of the delivery.
   */
  readonly key?: string | undefined
}

/** Calls with effects that are stored in the transaction of an event and made after its commit. */
export interface Outbox<Endpoints = object> extends WithServicePart {
  /**
   * Stores a call in the transaction of a handler's context, or of `service.as(user).transaction`. Resolves to
   * the id of the delivery, which is also the idempotency key of its call unless `key` is given. If the transaction is
   * rolled back, nothing is sent. Throws a TypeError for an unknown endpoint, or if the input has no JSON.
   */
  enqueue<Name extends keyof Endpoints & string>(
    context: object,
    name: Name,
    input: DeliveryInput<Endpoints[Name]>,
    options?: EnqueueOptions<DeliveryRow<Endpoints[Name]>>,
  ): Promise<string>
  /** Returns deliveries in the order in which they were stored, without inputs and responses. */
  list(options?: ListOptions): Promise<readonly Delivery[]>
  /**
   * Returns a delivery with its input and its response; undefined if the delivery does not exist. Of a response that is
   * not kept (`isKept: false`), returns the status and the beginning of the body.
   */
  get(id: string): Promise<DeliveryDetails | undefined>
  /** Makes a dead or waiting delivery due now. Rejects if it has another state, or does not exist. */
  retry(id: string): Promise<Delivery>
  /** Makes all dead or waiting deliveries of a filter due now. Resolves to their number. */
  retry(filter: RetryFilter<keyof Endpoints & string>): Promise<number>
  /**
   * Removes a delivery that is no longer needed. Rejects if it is being sent or was delivered, or does not exist.
   */
  drop(id: string): Promise<Delivery>
  /** Starts another worker in this process. Call it once the service is ready. */
  work(options?: { readonly concurrency?: number | undefined }): Worker
  /** For the administration of rowgate. */
  readonly [administeredPart]: AdministeredPart
}

/**
 * Creates an outbox; see docs/guides/consume.md. Pass it to `createService` as `outbox`. Throws a TypeError
 * that lists every mistake.
 *
 * ```ts
 * const outbox = createOutbox({ endpoints: { 'create-shipment': deliverTo(createShipment) } })
 * const orders = defineCollection(
 *   { key: 'orderId', fields: { orderId: text() } },
 *   {
 *     events: {
 *       Insert: {
 *         after: async (event) => {
 *           const { orderId } = event.item
 *           await outbox.enqueue(event, 'create-shipment', { body: { orderId } })
 *         },
 *       },
 *     },
 *   },
 * )
 * ```
 */
export function createOutbox<Endpoints extends OutboxEndpoints>(
  given: OutboxOptions<Endpoints>,
): Outbox<Endpoints> {
  const options = completeOutbox(given)
  const names = [...options.endpoints.keys()]
  let joined: JoinedOutbox | undefined

  function requireJoined(): JoinedOutbox {
    if (joined !== undefined) return joined
    throw new TypeError(
      'The outbox belongs to no service. Pass it to createService: createService({ ..., outbox }).',
    )
  }

  return Object.freeze<Outbox<Endpoints>>({
    enqueue: (context, name, input, chosen = {}) => {
      const { lane = null, key = null, row } = completeOptions('enqueue', enqueueShape, chosen)
      if (!options.endpoints.has(name)) {
        throw new TypeError(
          `enqueue: ${name} is not an endpoint of the outbox; ${suggestion(name, names)}`,
        )
      }
      const call = { endpoint: name, key, lane, input: jsonOf('input', input) }
      return requireJoined().enqueue(context, {
        ...call,
        row: row === undefined ? null : jsonOf('row', row),
      })
    },
    list: async (chosen = {}) => {
      const filter = completeOptions('list', listShape, chosen)
      return listDeliveries(requireJoined().storage, filter)
    },
    get: async (id) => getDelivery(requireJoined().storage, id),
    retry: retryWith(requireJoined) as Outbox<Endpoints>['retry'],
    drop: async (id) => requireJoined().change(dropDelivery, id),
    work: (chosen = {}) => {
      const { concurrency } = completeOptions('work', workShape, chosen)
      return requireJoined().workers.work(concurrency)
    },
    [administeredPart]: Object.freeze({
      storage: () => requireJoined().storage,
      workload: async () => ({ deliveries: await countDeliveries(requireJoined().storage) }),
    }),
    [servicePart]: Object.freeze({
      collections: Object.values(outboxCollections),
      join: (host: ServiceHost) => {
        if (joined !== undefined) throw new TypeError('The outbox already belongs to a service.')
        joined = new JoinedOutbox(options, host)
      },
      opened: () => {
        if (options.workers > 0) requireJoined().workers.work(options.workers)
      },
      workload: async () => ({ deliveries: await countDeliveries(requireJoined().storage) }),
      close: async () => joined?.workers.stop(),
    }),
  })
}

function retryWith(requireJoined: () => JoinedOutbox) {
  return async (chosen: string | RetryFilter): Promise<Delivery | number> => {
    if (typeof chosen === 'string') return requireJoined().change(retryDelivery, chosen)
    return requireJoined().retry(completeOptions('retry', retryShape, chosen))
  }
}

const enqueueShape = z.strictObject({
  lane: z.optional(text(400)),
  key: z.optional(
    z.string().check(
      z.refine(isIdempotencyKey, {
        error: 'must be 1 to 255 printable ASCII characters, without a space at either end',
      }),
    ),
  ),
  row: z.optional(z.record(z.string(), z.unknown())),
})
const listShape = z.strictObject({
  state: z.optional(z.enum(deliveryStates)),
  limit: z.optional(wholeNumber(1, 10_000)),
  offset: z.optional(wholeNumber(0)),
})
const workShape = z.strictObject({ concurrency: z._default(wholeNumber(1, 64), 1) })

function jsonOf(name: string, input: unknown): string {
  requirePlainJson(`The ${name}`, input, 'enqueue')
  let json: string | undefined
  try {
    json = stringifyJson(input)
  } catch {
    // A cycle, or a bigint.
  }
  if (json === undefined) throw new TypeError(`enqueue: the ${name} must be a JSON value`)
  const loss = lossInJson(input)
  if (loss !== undefined) throw new TypeError(`enqueue: the ${name} ${loss}`)
  return json
}
