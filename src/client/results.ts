import { requirePlainObject } from '../checks/plain-object.ts'
import type { SaveResult } from '../definition/handler.ts'
import { RequestError } from './request-error.ts'

/** The error of a save or delete whose result is not a success, thrown by {@link saved}. */
export class RejectedError extends Error {
  override readonly name = 'RejectedError'
  /** The result, for `confirm`; undefined if the item does not exist. */
  readonly result: SaveResult<Readonly<Record<string, unknown>>> | undefined

  constructor(message: string, result: RejectedError['result']) {
    super(message)
    this.result = result
  }
}

/**
 * Returns the item of a save or delete. Throws a RejectedError if it was rejected, if the item was stored but a
 * handler reported a failure, and if the item does not exist. For code that prefers exceptions to results:
 *
 * ```ts
 * const order = saved(await orders.update(1, { quantity: 3 }))
 * ```
 */
export function saved<I>(result: SaveResult<I> | undefined): I {
  if (result === undefined) throw new RejectedError('The item does not exist.', result)
  requirePlainObject('The result', result, 'saved')
  if (!result.rejected && result.failure === undefined) return result.item
  const message = result.rejected ? result.message : (result.failure ?? '')
  const findings = result.validations.map((entry) =>
    entry.field === undefined ? entry.message : `${entry.field}: ${entry.message}`,
  )
  throw new RejectedError([message, ...findings].join(' '), result as RejectedError['result'])
}

/** The outcome of a call that {@link attempt} has awaited. */
export type Attempt<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: RequestError | RejectedError }

/**
 * Awaits a call, and returns a RequestError or RejectedError instead of throwing it. For code that prefers
 * results to exceptions:
 *
 * ```ts
 * const page = await attempt(orders.filter({ status: 'open' }))
 * if (!page.ok) show(page.error.message)
 * ```
 *
 * Other errors, such as a TypeError for an invalid argument, are thrown.
 */
export async function attempt<Value>(call: Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { ok: true, value: await call }
  } catch (error) {
    if (error instanceof RequestError || error instanceof RejectedError) return { ok: false, error }
    throw error
  }
}
