import * as z from 'zod/mini'
import { nonEmpty } from '../checks/option-shapes.ts'
import { completeOptions } from '../checks/options.ts'
import type { PrepareContext } from '../definition/handlers.ts'
import { isCallError } from './call-error.ts'

/** What {@link prepareCall} does about a failed call. */
export interface PrepareCallOptions {
  /**
   * `reject`: rejects the event. `warn`: adds a warning that the client must confirm. `report`: continues.
   * The failure is reported in each case. Default `reject`.
   */
  readonly onFailure?: 'reject' | 'warn' | 'report' | undefined
  /** The message to the client. Default: "Another service that is needed for this is not available." */
  readonly message?: string | undefined
  /** The field that the message is about. Default: none. */
  readonly field?: string | undefined
}

/** A `prepare` handler that calls other services. */
export interface CallPreparation<Context, Result> {
  readonly run: (context: Context) => Promise<Result>
}

/**
 * Creates a `prepare` handler that calls other services before the transaction of its event. If a call fails
 * with a `CallError`, the handler reports it and does what `onFailure` states. With `warn` and `report`, the
 * event continues, and `prepared` is undefined.
 *
 * ```ts
 * prepare: prepareCall(
 *   async ({ values, signal }) => (await getCity.call({ zip: values.zip ?? '' }, { signal })).body,
 *   { onFailure: 'warn', message: 'The address could not be checked.', field: 'zip' },
 * )
 * ```
 */
export function prepareCall<Context extends PrepareContext, Result>(
  run: (context: Context) => Promise<Result>,
  options?: PrepareCallOptions & { readonly onFailure?: 'reject' | undefined },
): CallPreparation<Context, Result>
export function prepareCall<Context extends PrepareContext, Result>(
  run: (context: Context) => Promise<Result>,
  options: PrepareCallOptions,
): CallPreparation<Context, Result | undefined>
export function prepareCall<Context extends PrepareContext, Result>(
  run: (context: Context) => Promise<Result>,
  options: PrepareCallOptions = {},
): CallPreparation<Context, Result | undefined> {
  const { onFailure, message, field } = completeOptions('prepareCall', shape, options)
  return Object.freeze({
    run: async (context: Context): Promise<Result | undefined> => {
      try {
        return await run(context)
      } catch (error) {
        // A call in a transaction is a mistake of the application.
        if (!isCallError(error) || error.code === 'IN_TRANSACTION') throw error
        context.report(error)
        if (onFailure === 'reject') context.reject(message, field)
        if (onFailure === 'warn') context.warning('call-failed', message, field)
        return undefined
      }
    },
  })
}

const shape = z.strictObject({
  onFailure: z._default(z.enum(['reject', 'warn', 'report']), 'reject'),
  message: z._default(nonEmpty, 'Another service that is needed for this is not available.'),
  field: z.optional(z.string()),
} satisfies Record<keyof PrepareCallOptions, z.ZodMiniType>)
