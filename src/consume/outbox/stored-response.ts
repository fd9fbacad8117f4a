import type { EndpointResponse } from '../call.ts'

// Credentials of a session are of no use later.
const omitted = new Set(['set-cookie', 'set-cookie2'])

/**
 * Returns the JSON of a response that is stored until rules and handlers accept it; null if it is longer than
 * `maxLength` characters. The call is repeated then, with the same idempotency key.
 */
export function storeResponse(response: EndpointResponse, maxLength: number): string | null {
  const { status, headers, body } = response
  const pairs = [...headers].filter(([name]) => !omitted.has(name))
  const json = JSON.stringify({ status, headers: pairs, body })
  return json.length <= maxLength ? json : null
}

/** Returns a stored response. */
export function readResponse(json: string): EndpointResponse {
  const { status, headers, body } = JSON.parse(json) as {
    readonly status: number
    readonly headers: [string, string][]
    readonly body: unknown
  }
  return Object.freeze({ status, headers: new Headers(headers), body })
}
