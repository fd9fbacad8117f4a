import { longestPassword } from './password.ts'

/** What an HTTP Basic credential says. */
export interface BasicCredentials {
  readonly user: string
  /** May be empty. */
  readonly password: string
}

// As long as the library's own collection allows.
const longestUser = 200
const longestText = 4 * Math.ceil((longestUser * 4 + 1 + longestPassword) / 3)
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes the user and the password of an HTTP Basic credential (RFC 7617, UTF-8): strict base64, split
 * at the first colon, no control characters; a user of 1 to 200 characters, a password of at most 1024
 * bytes. Undefined for anything else.
 */
export function decodeBasic(text: string): BasicCredentials | undefined {
  if (text.length > longestText || !base64.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  // Bits left over in the last character have to be zero.
  if (bytes.toString('base64') !== text) return undefined
  const colon = bytes.indexOf(':')
  if (colon < 1 || bytes.length - colon - 1 > longestPassword) return undefined
  const user = decodeUtf8(bytes.subarray(0, colon))
  const password = decodeUtf8(bytes.subarray(colon + 1))
  if (user === undefined || password === undefined) return undefined
  if (Array.from(user).length > longestUser || /\p{Cc}/u.test(user + password)) return undefined
  return { user, password }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
