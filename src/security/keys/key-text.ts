import crypto from 'node:crypto'
import base64url from 'base64url'
import { runtime } from '../../runtime.ts'

/** Returns a new key: `length` bytes from the system's random source, in base64url. */
export function mintKey(length: number): string {
  return base64url.default.encode(runtime.randomBytes(length))
}

/** Returns the SHA-256 of a string in base64url, which is stored in place of a key. */
export const sha256: (text: string) => string = sha256With(crypto.hash)

/** Returns a hash function based on `crypto.hash` of newer Node versions, which is three times as fast, if present. */
export function sha256With(hash: typeof crypto.hash | undefined): (text: string) => string {
  // Stryker disable next-line ConditionalExpression: both ways give the same hash
  if (hash !== undefined) return (text) => hash('sha256', text, 'base64url')
  return (text) => crypto.createHash('sha256').update(text).digest('base64url')
}
