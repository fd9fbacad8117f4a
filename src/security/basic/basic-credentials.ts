import { maxPasswordBytes } from './password.ts'

/** The decoded content of an HTTP Basic credential. */
export interface BasicCredentials {
  readonly user: string
  /** May be empty. */
  readonly password: string
}

// The same maximum as for built-in users.
const maxUserLength = 200
const maxEncodedLength = 4 * Math.ceil((maxUserLength * 4 + 1 + maxPasswordBytes) / 3)
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes the user and password of an HTTP Basic credential (RFC 7617, UTF-8). It must be strict base64
 * without control characters, with a user of 1 to 200 characters, a colon, and a password of at most 1024
 * bytes. Returns undefined for anything else.
 */
export function decodeBasic(text: string): BasicCredentials | undefined {
  if (text.length > maxEncodedLength || !base64.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  // Unused bits of the last character must be zero.
  if (bytes.toString('base64') !== text) return undefined
  const colon = bytes.indexOf(':')
  if (colon < 1 || bytes.length - colon - 1 > maxPasswordBytes) return undefined
  const user = decodeUtf8(bytes.subarray(0, colon))
  const password = decodeUtf8(bytes.subarray(colon + 1))
  if (user === undefined || password === undefined) return undefined
  if (Array.from(user).length > maxUserLength || /\p{Cc}/u.test(user + password)) return undefined
  return { user, password }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
