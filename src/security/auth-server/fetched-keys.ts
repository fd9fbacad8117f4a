import {
  createRemoteJWKSet,
  customFetch,
  errors,
  jwksCache,
  type FetchImplementation,
  type JWKSCacheInput,
  type JWTVerifyGetKey,
} from 'jose'
import { boundedBytes } from '../../bounded-bytes.ts'
import { runtimeFetch } from '../../runtime-fetch.ts'
import { runtime, type Timer } from '../../runtime.ts'

/** The times of fetching the keys of an authorization server, in milliseconds. */
export interface FetchTimes {
  readonly timeout: number
  readonly cooldown: number
}

/** Where the keys of an authorization server come from. */
export interface KeySource {
  readonly find: JWTVerifyGetKey
  /** Returns an object that is another one after each fetch; undefined if the next token needs a fetch. */
  readonly keySet: () => object | undefined
}

const maxBytes = 256 * 1024
const maxKeys = 100
const minWait = 250
const maxWait = 15_000

/**
 * Returns a function that finds a key in the JSON Web Key Set at a URL. After a failed fetch, the next one
 * waits 250 ms, and twice as long after each further failure, up to 15 seconds; until then the function
 * rejects with the last failure. A set larger than 256 KiB or with more than 100 keys is a failure.
 */
export function fetchedKeys(url: URL, { timeout, cooldown }: FetchTimes): KeySource {
  // Its member `jwks` is replaced together with the keys.
  const current: JWKSCacheInput = {}
  const find = createRemoteJWKSet(url, {
    timeoutDuration: timeout,
    cooldownDuration: cooldown,
    [customFetch]: withBackOff((href, options) =>
      withinTime(timeout, (signal) => fetchBounded(href, { ...options, signal })),
    ),
    [jwksCache]: current,
  })
  return { find, keySet: () => (find.fresh ? current['jwks'] : undefined) }
}

function withBackOff(fetchKeys: FetchImplementation): FetchImplementation {
  let failures = 0
  let failure: unknown
  let retryAt = 0
  return async (url, options) => {
    if (failures > 0 && runtime.performanceNow() < retryAt) throw failure
    try {
      const response = await fetchKeys(url, options)
      failures = 0
      return response
    } catch (error) {
      failure = error
      retryAt = runtime.performanceNow() + Math.min(minWait * 2 ** Math.min(failures, 10), maxWait)
      failures++
      throw error
    }
  }
}

// The signal of jose is aborted after the fetch has ended, too, and does not end a body that never ends.
async function withinTime<Result>(
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const control = new AbortController()
  let timer: Timer | undefined
  const late = new Promise<never>((_, reject) => {
    timer = runtime.setTimeout(() => {
      const error = new errors.JWKSTimeout()
      reject(error)
      control.abort(error)
    }, milliseconds)
  })
  try {
    return await Promise.race([work(control.signal), late])
  } finally {
    runtime.clearTimeout(timer)
  }
}

const fetchBounded: FetchImplementation = async (url, options) => {
  const response = await runtimeFetch(url, options, maxBytes)
  if (response.status !== 200) {
    response.body?.cancel().catch(() => undefined)
    throw unusable(`the status of the response is ${response.status}`)
  }
  const bytes = await boundedBytes(response, maxBytes)
  if (bytes === undefined) throw unusable(`the set is larger than ${maxBytes} bytes`)
  const text = new TextDecoder().decode(bytes)
  const keys = keysIn(text)
  if (keys.length > maxKeys) throw unusable(`the set has more than ${maxKeys} keys`)
  return new Response(text)
}

function keysIn(text: string): readonly unknown[] {
  let set: unknown
  try {
    set = JSON.parse(text)
  } catch {
    throw unusable('the response is not JSON')
  }
  const { keys } = Object(set) as { readonly keys?: unknown }
  if (!Array.isArray(keys)) throw unusable('the set has no list of keys')
  return keys
}

function unusable(reason: string): errors.JWKSInvalid {
  return new errors.JWKSInvalid(reason)
}
