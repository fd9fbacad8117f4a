import { joinTransaction } from '../../events/units/join-transaction.ts'
import type { WithinTransaction } from '../../in-process.ts'
import { parseJson } from '../../protocol/json-text.ts'
import type { ServiceHost } from '../../service-part.ts'
import { isStorageError, type StorageTransaction } from '../../storage/adapter.ts'
import { pauseAfter, retryWhileUnavailable } from '../../work/back-off.ts'
import type { EndpointResponse } from '../call.ts'
import { CallError, isCallError } from '../call-error.ts'
import { callerReader, type CallerReader } from '../rules/caller-reader.ts'
import { RuleError } from '../rules/rule-error.ts'
import { joinResponse, storeResponse, tablesOf } from '../store-response.ts'
import { decodeResponse, encodeResponse, isReadable, type StoredDelivery } from './delivery.ts'
import { settle, type DeliveryStore } from './delivery-store.ts'
import type { DeadContext, DeliveryContext } from './delivery-context.ts'
import { isFinal, isFinalOfFunction, encodeFailedResponse } from './failed-calls.ts'
import type { CheckedEndpoint, CompleteOutbox } from './options.ts'

/** What sending a delivery uses. */
export interface DeliveryDependencies {
  readonly options: CompleteOutbox
  readonly host: ServiceHost
  readonly store: DeliveryStore
  /** Called when a delivery can be claimed now, or after some milliseconds. */
  readonly wake: (id: string, delay: number) => void
}

/**
 * Sends a claimed delivery and stores the result: delivered, dead, or waiting for the next attempt. The call
 * is made outside of any transaction; one transaction stores the handler's writes and the state. If the
 * claim was lost meanwhile, nothing is stored. `closing` ends the call and gives the delivery back.
 * Rejects if storage is unreachable.
 */
export async function deliver(
  dependencies: DeliveryDependencies,
  claimed: StoredDelivery,
  closing: AbortSignal,
): Promise<void> {
  const { options } = dependencies
  const { endpoint } = claimed
  const known = options.endpoints.get(endpoint)
  if (known === undefined || !isReadable(claimed)) {
    const detail =
      known === undefined
        ? 'the outbox has no such endpoint'
        : 'its stored input or row is not JSON'
    const error = new CallError('INVALID_INPUT', endpoint, { detail })
    await fail(dependencies, claimed, { error, closing })
    return
  }
  const kept = claimed.response === null ? undefined : decodeResponse(claimed.response)
  let response: EndpointResponse
  try {
    response = kept ?? (await call(known, claimed, { options, closing }))
  } catch (cause) {
    const error = callErrorOf(claimed, cause)
    if (closing.aborted && !isCallError(cause))
      await giveBack(dependencies, claimed, claimed.response)
    else await fail(dependencies, claimed, { error, closing })
    return
  }
  try {
    await retryWhileUnavailable(closing, () => succeed(dependencies, claimed, { known, response }))
  } catch (error) {
    if (error instanceof ClaimLost) return
    // The service closes while storage is unavailable. The response is applied by the next worker.
    if (isUnavailable(error))
      await giveBack(dependencies, claimed, encodeResponse(response, options.maxStoredResponse))
    else await reject(dependencies, claimed, { error, response, closing })
  }
}

function call(
  known: CheckedEndpoint,
  { id, key, input }: StoredDelivery,
  { options, closing }: { readonly options: CompleteOutbox; readonly closing: AbortSignal },
): Promise<EndpointResponse> {
  const timeout = options.callTimeout
  const own = { idempotencyKey: key ?? id, timeout, signal: closing }
  return known.call(parseJson(input), own)
}

/** Stores that a delivery was delivered, with what its handler writes. */
async function succeed(
  dependencies: DeliveryDependencies,
  claimed: StoredDelivery,
  { known, response }: { readonly known: CheckedEndpoint; readonly response: EndpointResponse },
): Promise<void> {
  const { host } = dependencies
  const settled = { state: 'delivered', error: null, response: null } as const
  const { rules, onSuccess } = known
  const changes = { ...settled, ended: host.now().toISOString() }
  if (known.isFunction) {
    const handle = (at: DeliveryContext) => onSuccess?.({ ...at, result: response.body } as never)
    await settleWith(dependencies, claimed, { changes, handle })
    return
  }
  const tables = tablesOf(response.body, known.tables, known.rules)
  const caller = callerOfDelivery(claimed)
  const joined = joinResponse({ tables, rules, caller, onSuccess })
  await settleWith(dependencies, claimed, {
    changes,
    handle: (at) => storeResponse(joined, at, { ...at, response }),
  })
}

/** Stores that a call has failed: the delivery waits for the next attempt, or is dead. */
async function fail(
  dependencies: DeliveryDependencies,
  claimed: StoredDelivery,
  { error, closing }: { readonly error: CallError; readonly closing: AbortSignal },
): Promise<void> {
  const { options, host, store, wake } = dependencies
  const failures = claimed.failures + 1
  const isFunction = options.endpoints.get(claimed.endpoint)?.isFunction === true
  const isLast = isFunction ? isFinalOfFunction(error) : isFinal(error)
  const isDead = failures >= options.attempts || isLast
  reportFailure(dependencies, claimed, { error, isDead })
  // The response to a function may contain anything, such as a token.
  const response = (isFunction ? null : encodeFailedResponse(error)) ?? claimed.response
  if (isDead) {
    const changes = { failures, error: error.message, response }
    const dead = { error, response: null, changes }
    await retryWhileUnavailable(closing, () => markDead(dependencies, claimed, dead))
    return
  }
  const requested = Math.min((error.retryAfter ?? 0) * 1000, options.backOff.max)
  const pause = Math.max(pauseAfter(failures, options.backOff), requested)
  const due = new Date(host.now().getTime() + pause).toISOString()
  const changes = { failures, due, error: error.message, response }
  const isKept = await retryWhileUnavailable(closing, () => store.giveBack(claimed, changes))
  if (isKept) wake(claimed.id, pause)
}

/** Stores that a response could not be stored. `retry` applies it again without another call. */
async function reject(
  dependencies: DeliveryDependencies,
  claimed: StoredDelivery,
  {
    error,
    response,
    closing,
  }: {
    readonly error: unknown
    readonly response: EndpointResponse
    readonly closing: AbortSignal
  },
): Promise<void> {
  reportFailure(dependencies, claimed, { error, isDead: true })
  const message = error instanceof Error ? error.message : 'not an error'
  const changes = {
    error: textOf(`The response was not stored: ${message}`),
    response: encodeResponse(response, dependencies.options.maxStoredResponse),
  }
  const dead = { error, response, changes }
  await retryWhileUnavailable(closing, () => markDead(dependencies, claimed, dead))
}

/** Stores that a delivery is dead, with what its handler writes. If the handler fails, only its writes are lost. */
export async function markDead(
  dependencies: DeliveryDependencies,
  claimed: StoredDelivery,
  {
    error,
    response,
    changes,
  }: Pick<DeadContext, 'error' | 'response'> & {
    readonly changes: Readonly<Record<string, string | number | null>>
  },
): Promise<void> {
  const known = dependencies.options.endpoints.get(claimed.endpoint)
  // A handler could read nothing of what was sent.
  if (known?.onFailure !== undefined && isReadable(claimed)) {
    const { onFailure } = known
    try {
      await settleWith(dependencies, claimed, {
        changes: { ...deadOf(dependencies, claimed), ...changes },
        handle: (at) => onFailure({ ...at, error, response }),
      })
      return
    } catch (failure) {
      if (failure instanceof ClaimLost) return
      if (isUnavailable(failure)) throw failure
      reportFailure(dependencies, claimed, { error: failure, isDead: true })
    }
  }
  await settleDead(dependencies, claimed, changes)
}

async function settleDead(
  dependencies: DeliveryDependencies,
  claimed: StoredDelivery,
  changes: Readonly<Record<string, string | number | null>>,
): Promise<void> {
  const dead = { ...deadOf(dependencies, claimed), ...changes }
  await dependencies.store.write((storage) => settle(storage, claimed, dead))
}

function deadOf({ options, host }: DeliveryDependencies, { lane }: StoredDelivery) {
  const holdsLane = options.onDead === 'hold' && lane !== null
  return { state: 'dead', ended: host.now().toISOString(), holdsLane } as const
}

/** Changes the state of a delivery and calls its handler, in one transaction. */
async function settleWith(
  { options, host }: DeliveryDependencies,
  claimed: StoredDelivery,
  {
    changes,
    handle,
  }: {
    readonly changes: Parameters<typeof settle>[2]
    readonly handle: (at: DeliveryContext) => unknown
  },
): Promise<void> {
  await host.transaction(options.principal, async (within) => {
    const isKept = await inTransaction(within, (storage) => settle(storage, claimed, changes))
    if (!isKept) throw new ClaimLost()
    const { id: deliveryId, failures } = claimed
    try {
      await handle({ ...within, deliveryId, failures, caller: callerOfDelivery(claimed) })
    } catch (error) {
      throw transientCause(error)
    }
  })
}

function inTransaction<Result>(
  within: WithinTransaction<object>,
  work: (storage: StorageTransaction) => Promise<Result>,
): Promise<Result> {
  return joinTransaction(within, 'deliver', ({ storage }) => work(storage))
}

/** Releases a claimed delivery for other workers. It keeps a response that was received. */
async function giveBack(
  { host, store }: DeliveryDependencies,
  claimed: StoredDelivery,
  response: string | null,
): Promise<void> {
  await store.giveBack(claimed, { due: host.now().toISOString(), response })
}

function reportFailure(
  { host }: DeliveryDependencies,
  { id, endpoint, lane }: StoredDelivery,
  { error, isDead }: { readonly error: unknown; readonly isDead: boolean },
): void {
  const type = isDead ? 'delivery-dead' : 'delivery-failed'
  host.report({ type, deliveryId: id, endpoint, lane, error })
}

/** Another worker has claimed the delivery. Its result counts. */
class ClaimLost extends Error {}

function callerOfDelivery({ input, row }: StoredDelivery): CallerReader {
  return callerReader(Object(parseJson(row ?? input)) as object, 'the delivery')
}

/** Returns the error of storage that a rule could not store an item for, which is tried again; else the error itself. */
function transientCause(error: unknown): unknown {
  return error instanceof RuleError && isUnavailable(error.cause) ? error.cause : error
}

function callErrorOf({ endpoint }: StoredDelivery, error: unknown): CallError {
  return isCallError(error) ? error : new CallError('CONNECTION_FAILED', endpoint, { cause: error })
}

function isUnavailable(error: unknown): boolean {
  return isStorageError(error) && error.kind === 'unavailable'
}

const maxErrorLength = 1_000

function textOf(message: string): string {
  return message.slice(0, maxErrorLength).toWellFormed().replaceAll('\0', '')
}
