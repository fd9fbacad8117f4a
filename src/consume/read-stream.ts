import type { CallOptions } from './call.ts'
import type { ReadStream } from './connection/connection.ts'
import type { Endpoint } from './endpoint.ts'
import { pathTemplate } from './path-template.ts'
import { buildRequest } from './request.ts'

/**
 * Calls an endpoint and has `read` read the bytes of its response as they arrive, for responses that are
 * larger than the memory should hold. The time of the call includes reading. The limit for the response is
 * `options.maxResponseBytes`; its nesting, its numbers and its type are not checked. Resolves to what `read`
 * resolves to. Rejects with a CallError, with the reason of `options.signal`, or with what `read` throws.
 */
export async function readStream<Input, Result>(
  endpoint: Endpoint<Input>,
  input: Input,
  read: ReadStream<Result>,
  options: CallOptions = {},
): Promise<Result> {
  const { name, method, path, parameters, query, headers, body } = endpoint
  const data = { name, method, path, parameters, query, headers, body }
  const template = pathTemplate(path)
  const description = { ...data, template, largeNumbers: 'reject' as const }
  return endpoint.connection.stream(await buildRequest(description, input, options), read)
}
