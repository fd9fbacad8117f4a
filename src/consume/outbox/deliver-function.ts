import { inTime } from '../../maybe-promise.ts'
import type { EndpointResponse } from '../call.ts'
import { CallError, isCallError } from '../call-error.ts'
import type { DeadContext, DeliveryContext } from './delivery-context.ts'

/** What a function of an outbox receives besides its input. */
export interface FunctionCall {
  /**
   * The key that was given to `enqueue`, by default the id of the delivery: the same in each attempt, so that the receiver
   * can recognize a repeated one.
   */
  readonly key: string
  /** Aborted after `callTimeout`, and when the worker stops. */
  readonly signal: AbortSignal
}

/** What `onSuccess` of a function receives. */
export interface FunctionDeliveredContext extends DeliveryContext<object> {
  /** What the function returned. */
  readonly result: unknown
}

/** A function that an outbox delivers with, such as one that sends an e-mail over SMTP. */
export interface OutboxFunction<Input = never> {
  readonly endpoint?: undefined
  /** Called after the commit, at least once. If it throws or rejects, the delivery is tried again later. */
  readonly deliver: (input: Input, call: FunctionCall) => unknown
  /**
   * Called with what the function returned. What it writes is committed together with the state `delivered`. After a
   * conflict with another transaction it is called again, up to 12 times: it must have no other effects. If it throws, the
   * delivery is dead, and the result is kept for `retry` if it is JSON.
   */
  readonly onSuccess?: ((at: FunctionDeliveredContext) => void | Promise<void>) | undefined
  /**
   * Called when the delivery is dead: its calls failed, its workers died, or `onSuccess` has thrown. What the function
   * returned is then the body of `response`. After a conflict it is called again, as `onSuccess` is.
   */
  readonly onFailure?: ((at: DeadContext<object>) => void | Promise<void>) | undefined
}

/** How workers call an endpoint or a function. */
export type CallOnce = (
  input: unknown,
  options: {
    readonly idempotencyKey: string
    readonly timeout: number
    readonly signal: AbortSignal
  },
) => Promise<EndpointResponse>

const maxReasonLength = 500

/** Returns the call of a function: its result is the body of a response with status 200. */
export function callOfFunction(name: string, deliver: OutboxFunction['deliver']): CallOnce {
  return async (input, { idempotencyKey: key, timeout, signal }) => {
    const control = new AbortController()
    const abort = (): void => {
      control.abort(signal.reason)
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      const work = (async () => deliver(input as never, { key, signal: control.signal }))()
      const body: unknown = await inTime(work, timeout, (reject) => {
        const late = new CallError('TIMEOUT', name, { detail: 'it took too long' })
        control.abort(late)
        reject(late)
      })
      return Object.freeze({ status: 200, headers: new Headers(), body })
    } catch (error) {
      if (isCallError(error) || signal.aborted) throw error
      throw new CallError('FUNCTION_FAILED', name, { detail: reasonOf(error), cause: error })
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }
}

function reasonOf(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message.trim() : ''
  if (message === '') return undefined
  return message.slice(0, maxReasonLength).toWellFormed().replaceAll('\0', '').replace(/\.$/, '')
}
