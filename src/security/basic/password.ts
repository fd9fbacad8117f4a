import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { isLine } from '../check-call.ts'

/** What one hash of a password costs: the parameters of scrypt (RFC 7914). */
export interface PasswordCost {
  /** Time and memory: a power of two. Default 32768. */
  readonly N: number
  /** The size of a block: a hash takes 128 × N × r bytes of memory. Default 8. */
  readonly r: number
  /** Time alone. Default 3. */
  readonly p: number
}

/** What a hash costs unless the host says otherwise: 32 MiB, and some 60 ms of one core. */
export const defaultCost: PasswordCost = Object.freeze({ N: 2 ** 15, r: 8, p: 3 })

/** The bounds of a cost, in words. */
export const costBounds =
  'must be a power of two (N), at least 2, with r up to 32, p up to 16, at most 256 MiB (128 × N × r bytes) and N × r × p at most 8388608'

/** The longest password, in bytes of UTF-8. */
export const longestPassword = 1024

const saltBytes = 16
const hashBytes = 32
const storedForm =
  /^scrypt\$N=(\d{1,7}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9_-]{11,86})\$([A-Za-z0-9_-]{22,86})$/

/** Whether a hash of this cost is one that the library makes and checks. */
export function isAffordable({ N, r, p }: PasswordCost): boolean {
  return (
    [N, r, p].every((part) => Number.isSafeInteger(part) && part >= 1) &&
    N >= 2 &&
    N <= 2 ** 20 &&
    Number.isInteger(Math.log2(N)) &&
    // What scrypt itself demands of small blocks.
    N < 2 ** (16 * r) &&
    r <= 32 &&
    p <= 16 &&
    N * r <= 2 ** 21 &&
    N * r * p <= 2 ** 23
  )
}

/** Whether a text can be a password: 1 to 1024 bytes of UTF-8 without control characters (RFC 7617). */
export function isPassword(text: unknown): text is string {
  return isLine(text) && text !== '' && Buffer.byteLength(text) <= longestPassword
}

/**
 * Hashes a password with a salt of its own. The text says all that checking needs:
 * `scrypt$N=32768,r=8,p=3$<salt>$<hash>`, in base64url.
 */
export async function hashPassword(password: string, cost: PasswordCost): Promise<string> {
  const salt = randomBytes(saltBytes)
  return stored(cost, salt, await derive(password, salt, hashBytes, cost))
}

/** Checks a password against the text of {@link hashPassword}, at the cost that the text names. */
export async function passwordMatches(password: string, text: string): Promise<boolean> {
  const { cost, salt, hash } = readStored(text)
  return timingSafeEqual(await derive(password, salt, hash.length, cost), hash)
}

/** A text that no password matches and that costs as much to check as any other. */
export function unmatchable(cost: PasswordCost): string {
  return stored(cost, randomBytes(saltBytes), randomBytes(hashBytes))
}

function stored({ N, r, p }: PasswordCost, salt: Buffer, hash: Buffer): string {
  return `scrypt$N=${N},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`
}

// Throws: whether the password is right can't be told.
function readStored(text: string) {
  const [, N, r, p, salt = '', hash = ''] = storedForm.exec(text) ?? []
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  if (!isAffordable(cost)) throw new Error('The stored password of a user can not be read.')
  return { cost, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') }
}

function derive(
  password: string,
  salt: Buffer,
  length: number,
  { N, r, p }: PasswordCost,
): Promise<Buffer> {
  const options: ScryptOptions = { N, r, p, maxmem: 128 * r * (N + p + 4) }
  // Keyboards differ in how they compose a letter (RFC 8265).
  const bytes = Buffer.from(password.normalize('NFC'))
  return new Promise((resolve, reject) => {
    scrypt(bytes, salt, length, options, (error, hash) => {
      if (error === null) resolve(hash)
      else reject(error)
    })
  })
}
