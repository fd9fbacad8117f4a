import type { JsonSchema } from '../definition/schema.ts'
import type { DescribedCollection, DescribedService } from './described.ts'

type Components = Readonly<Record<string, JsonSchema>>

/** Returns whether writes of a collection may have an idempotency key. */
export function hasKeys(
  { applications }: Pick<DescribedService, 'applications'>,
  { collection }: Pick<DescribedCollection, 'collection'>,
): boolean {
  const { idempotencyKeys = false } = applications[collection.application] ?? {}
  return idempotencyKeys !== false
}

/** The parameter of the key, by the name of its component. */
export const keyParameters: Components = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A value of your choice for this request. A repetition with the same value gets the response of the first one, and changes nothing.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7E]{1,255}$' },
  },
}

/** The header of a repeated response, by the name of its component. */
export const keyHeaders: Components = {
  IdempotentReplayed: {
    description: 'Present if this is the response of an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
}

/** The responses of requests with a key, by the name of their component. */
export const keyResponses = {
  KeyConflict: {
    status: 409,
    description:
      'Other items refer to this one, the first request with the same Idempotency-Key is still in progress (with Retry-After), or its response is not available.',
    message: 'The first request with this Idempotency-Key is still in progress.',
    headers: { 'Retry-After': 'RetryAfter' },
  },
  KeyReused: {
    status: 422,
    description: 'Another request had the same Idempotency-Key.',
    message: 'Another request had this Idempotency-Key.',
  },
} as const
