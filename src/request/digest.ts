import { builtin } from '../builtin.ts'
import type { MaybePromise } from '../maybe-promise.ts'

interface Hashes {
  hash(algorithm: 'sha256', text: string): string
}

/**
 * Returns the first 128 bits of the SHA-256 of a string, in hexadecimal digits: immediately where the runtime has
 * Node's `crypto.hash`, which takes a tenth of the time for a short string.
 */
export function digestOf(text: string): MaybePromise<string> {
  const { hash } = hashes
  return hash === undefined ? webDigest(text) : hash('sha256', text).slice(0, 32)
}

const hashes = builtin<Hashes>('crypto')

async function webDigest(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest, 0, 16), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
