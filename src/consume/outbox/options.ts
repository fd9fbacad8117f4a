import * as z from 'zod/mini'
import { mistaken } from '../../checks/mistakes.ts'
import {
  code,
  objectWith,
  text,
  timerMilliseconds,
  wholeNumber,
} from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { requirePlainObject } from '../../checks/plain-object.ts'
import { requirePrincipal, system, type Principal } from '../../definition/principal.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Rule } from '../rules/rule.ts'
import { isRule } from '../store-response.ts'
import type { FlattenOptions } from '../tables/flatten.ts'
import {
  callOfFunction,
  type CallOnce,
  type FunctionCall,
  type OutboxFunction,
} from './deliver-function.ts'
import type { DeadContext, DeliveredContext } from './delivery-context.ts'

/**
 * What happens with the responses of an endpoint that an outbox delivers to. `Row` is the type of the rows that
 * `caller` reads, in the handlers as in the rules.
 */
export interface DeliveryHandlers<Body, Row = unknown> {
  /** The rules that store items of the response, in this order. Default: none. */
  readonly rules?: readonly Rule<NoInfer<Body>, Row>[] | undefined
  /** How the response is read as tables. */
  readonly tables?: FlattenOptions | undefined
  /**
   * Called with the response, after the rules. What it writes is committed together with the state
   * `delivered`, so it is applied once. After a conflict with another transaction it is called again, up to 12 times: it
   * must have no other effects. If it throws, the delivery is dead, and its response is kept for `retry`.
   */
  readonly onSuccess?: NoInfer<(at: DeliveredContext<Body, Row>) => void | Promise<void>>
  /**
   * Called when the delivery is dead: its calls failed, its workers died, or rules or `onSuccess` have rejected its
   * response. What it writes is committed together with the state `dead`. After a conflict it is called again, as
   * `onSuccess` is.
   */
  readonly onFailure?: NoInfer<(at: DeadContext<Row, Body>) => void | Promise<void>> | undefined
}

/** An endpoint that an outbox delivers to. */
export interface OutboxEndpoint<Input = never, Row = never> {
  readonly endpoint: Endpoint<Input>
  readonly deliver?: undefined
  /** Only a type: the rows that rules and handlers read. */
  readonly '~row'?: (row: Row) => void
  readonly tables?: FlattenOptions | undefined
  /** Use {@link deliverTo}, which checks rules and handlers against the responses of the endpoint. */
  readonly rules?: readonly object[] | undefined
  readonly onSuccess?: ((at: never) => void | Promise<void>) | undefined
  readonly onFailure?: ((at: never) => void | Promise<void>) | undefined
}

/** Endpoints and functions by the names under which their deliveries are stored. */
export type OutboxEndpoints = Readonly<
  Record<string, Omit<OutboxEndpoint, '~row'> | OutboxFunction>
>

/** The type of the input of an endpoint or a function of an outbox. */
export type DeliveryInput<Of> = Of extends { readonly endpoint: Endpoint<infer Input> }
  ? Input
  : Of extends { readonly deliver: (input: infer Input, call: FunctionCall) => unknown }
    ? Input
    : never

/** The type of the rows of an endpoint of an outbox: known if its rules have `caller`. */
export type DeliveryRow<Of> = Of extends { readonly '~row'?: (row: infer Row) => void }
  ? unknown extends Row
    ? object
    : Partial<Row>
  : object

/**
 * Returns an endpoint with what happens with its responses, for `createOutbox`. Rules and handlers have the
 * types of the endpoint.
 */
export function deliverTo<Input, Body, Row = unknown>(
  endpoint: Endpoint<Input, Body>,
  handlers: DeliveryHandlers<Body, Row> = {},
): OutboxEndpoint<Input, Row> {
  requirePlainObject('The handlers', handlers, 'deliverTo')
  return Object.freeze({ ...handlers, endpoint })
}

/** The options of `createOutbox`. Times are in milliseconds. */
export interface OutboxOptions<Endpoints = OutboxEndpoints> {
  /**
   * The endpoints and functions by the names under which deliveries are stored: renaming one needs a migration.
   */
  readonly endpoints: Endpoints
  /** The number of failed calls after which a delivery is dead. Default 10. */
  readonly attempts?: number | undefined
  /**
   * The pauses after failed calls: random, up to `first` after the first failure, doubled with each further
   * one, up to `max`. A `Retry-After` of the other service replaces the random pause. Default 10,000 and
   * 3,600,000.
   */
  readonly backOff?:
    { readonly first?: number | undefined; readonly max?: number | undefined } | undefined
  /**
   * What happens to a lane whose delivery is dead: it goes on with the `next` one, or holds until the dead
   * one is retried or dropped. Default: `next`.
   */
  readonly onDead?: 'next' | 'hold' | undefined
  /**
   * How many deliveries are sent at a time in this process. With 0 they are left to other processes, such
   * as `rowgate worker`. Default 1.
   */
  readonly workers?: number | undefined
  /** How long one call may take, with the retries of its connection. Default 30,000. */
  readonly callTimeout?: number | undefined
  /** How long a delivery may be in progress before another worker takes it over. Default 60,000. */
  readonly lease?: number | undefined
  /** How many workers may stop responding during a delivery before it is dead. Default 3. */
  readonly maxLost?: number | undefined
  /** The interval at which workers look for deliveries of other processes. Default 1,000. */
  readonly pollInterval?: number | undefined
  /** How long delivered rows are kept. Default 604,800,000 (7 days). */
  readonly keepDelivered?: number | undefined
  /** The maximum size of a kept response, in characters of JSON. Default 1,048,576. */
  readonly maxStoredResponse?: number | undefined
  /** The principal with whose rights rules and handlers write. Default: `system`, which has every right. */
  readonly principal?: Principal | undefined
}

/** The endpoint or function of a delivery in the form that workers use. */
export interface CheckedEndpoint {
  readonly call: CallOnce
  readonly isFunction: boolean
  readonly rules: readonly Rule[]
  readonly tables: FlattenOptions | undefined
  readonly onSuccess: ((at: never) => void | Promise<void>) | undefined
  readonly onFailure: ((at: DeadContext) => void | Promise<void>) | undefined
}

/** The complete options of an outbox. */
export type CompleteOutbox = Omit<z.infer<typeof shape>, 'endpoints' | 'principal'> & {
  readonly endpoints: ReadonlyMap<string, CheckedEndpoint>
  readonly principal: Principal
}

const endpointShape = z
  .strictObject({
    endpoint: z.optional(
      objectWith<Endpoint>('call', 'must be an endpoint, as endpoint(...) returns it'),
    ),
    deliver: z.optional(code<OutboxFunction['deliver']>()),
    rules: z.optional(
      z.array(z.custom<Rule>(isRule, { error: 'must be a rule, as rule(...) returns it' })),
    ),
    tables: z.optional(z.custom<FlattenOptions>()),
    onSuccess: z.optional(code<NonNullable<CheckedEndpoint['onSuccess']>>()),
    onFailure: z.optional(code<NonNullable<CheckedEndpoint['onFailure']>>()),
  } satisfies Record<Exclude<keyof OutboxEndpoint, '~row'>, z.ZodMiniType>)
  .check(
    z.refine(({ endpoint, deliver }) => (endpoint === undefined) !== (deliver === undefined), {
      error: 'needs either endpoint, as endpoint(...) returns it, or deliver, a function',
    }),
    z.refine(({ deliver, rules, tables }) => deliver === undefined || !(rules ?? tables), {
      error: 'rules and tables need an endpoint: leave them out',
    }),
  )

const shape = z.strictObject({
  endpoints: z
    .record(text(200), endpointShape)
    .check(z.refine((all) => Object.keys(all).length > 0, { error: 'must not be empty' })),
  attempts: z._default(wholeNumber(1, 100), 10),
  backOff: z._default(
    z.strictObject({
      first: z._default(timerMilliseconds, 10_000),
      max: z._default(timerMilliseconds, 3_600_000),
    }),
    { first: 10_000, max: 3_600_000 },
  ),
  onDead: z._default(z.enum(['next', 'hold']), 'next'),
  workers: z._default(wholeNumber(0, 64), 1),
  callTimeout: z._default(wholeNumber(1, 3_600_000), 30_000),
  lease: z._default(wholeNumber(100, 2 ** 31 - 1), 60_000),
  maxLost: z._default(wholeNumber(1), 3),
  pollInterval: z._default(timerMilliseconds, 1_000),
  keepDelivered: z._default(wholeNumber(0), 7 * 24 * 3_600_000),
  maxStoredResponse: z._default(wholeNumber(0), 1024 * 1024),
  principal: z.optional(z.custom<Principal>()),
} satisfies Record<keyof OutboxOptions, z.ZodMiniType>)

/** Checks and completes the options of an outbox. Throws a TypeError that lists every mistake. */
export function completeOutbox(all: object): CompleteOutbox {
  const { endpoints, principal, ...complete } = completeOptions('outbox', shape, all)
  const { lease, callTimeout } = complete
  if (lease <= callTimeout) {
    // A delivery would be taken over while its call is in progress.
    const advice = `must be longer than callTimeout, which is ${callTimeout}`
    throw mistaken([{ place: 'outbox.lease', advice }])
  }
  return Object.freeze({
    ...complete,
    endpoints: new Map(
      Object.entries(endpoints).map(([name, given]) => {
        const { endpoint, deliver, rules = [], tables, onSuccess, onFailure } = given
        const call: CallOnce =
          deliver === undefined
            ? (input, own) => (endpoint as Endpoint).call(input, own)
            : callOfFunction(name, deliver)
        const isFunction = deliver !== undefined
        return [name, { call, isFunction, rules, tables, onSuccess, onFailure }]
      }),
    ),
    principal: principal === undefined ? system : requirePrincipal(principal),
  })
}
