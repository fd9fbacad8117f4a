import { scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { runtime } from '../../runtime.ts'
import { isLine } from '../check-call.ts'

/** The cost of a password hash: the parameters of scrypt (RFC 7914). */
export interface PasswordCost {
  /** The cost in time and memory, a power of two. Default 32768. */
  readonly N: number
  /** The block size: a hash needs 128 × N × r bytes of memory. Default 8. */
  readonly r: number
  /** The cost in time alone. Default 3. */
  readonly p: number
}

/** The default cost of a hash: 32 MiB, and about 60 ms of one core. */
export const defaultCost: PasswordCost = Object.freeze({ N: 2 ** 15, r: 8, p: 3 })

/** The message for a cost out of bounds. */
export const costBounds =
  'must be a power of two (N), at least 2, with r up to 32, p up to 16, at most 256 MiB (128 × N × r bytes) and N × r × p at most 8388608'

/** The maximum length of a password, in bytes of UTF-8. */
export const maxPasswordBytes = 1024

const saltBytes = 16
const hashBytes = 32
const storedForm =
  /^scrypt\$N=(\d{1,7}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9_-]{11,86})\$([A-Za-z0-9_-]{22,86})$/

/** Returns whether a cost is within the bounds for hashing and checking. */
export function isAffordable({ N, r, p }: PasswordCost): boolean {
  return (
    [N, r, p].every((part) => Number.isSafeInteger(part) && part >= 1) &&
    N >= 2 &&
    N <= 2 ** 20 &&
    Number.isInteger(Math.log2(N)) &&
    // The limit of scrypt for small blocks.
    N < 2 ** (16 * r) &&
    r <= 32 &&
    p <= 16 &&
    N * r <= 2 ** 21 &&
    N * r * p <= 2 ** 23
  )
}

/** Returns whether a value can be a password: 1 to 1024 bytes of UTF-8 without control characters (RFC 7617). */
export function isPassword(text: unknown): text is string {
  return isLine(text) && text !== '' && Buffer.byteLength(text) <= maxPasswordBytes
}

/**
 * Hashes a password with a random salt. The result contains all that checking needs:
 * `scrypt$N=32768,r=8,p=3$<salt>$<hash>`, in base64url.
 */
export async function hashPassword(password: string, cost: PasswordCost): Promise<string> {
  const salt = runtime.randomBytes(saltBytes)
  return stored(cost, salt, await derive(password, salt, hashBytes, cost))
}

/** Returns whether a password matches a result of {@link hashPassword}. Rejects if that can't be read. */
export async function passwordMatches(password: string, text: string): Promise<boolean> {
  const { cost, salt, hash } = readStored(text)
  return timingSafeEqual(await derive(password, salt, hash.length, cost), hash)
}

/** Returns a stored password that no password matches, and that takes as long to check as any other. */
export function unmatchable(cost: PasswordCost): string {
  return stored(cost, runtime.randomBytes(saltBytes), runtime.randomBytes(hashBytes))
}

function stored({ N, r, p }: PasswordCost, salt: Buffer, hash: Buffer): string {
  return `scrypt$N=${N},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`
}

// Throws if the text is invalid: it is not known then whether the password is correct.
function readStored(text: string) {
  const [, N, r, p, salt = '', hash = ''] = storedForm.exec(text) ?? []
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  if (!isAffordable(cost))
    throw new Error('The stored password of a user is invalid; set the password again.')
  return { cost, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') }
}

function derive(
  password: string,
  salt: Buffer,
  length: number,
  { N, r, p }: PasswordCost,
): Promise<Buffer> {
  const options: ScryptOptions = { N, r, p, maxmem: 128 * r * (N + p + 4) }
  // Keyboards compose letters in different ways (RFC 8265).
  const bytes = Buffer.from(password.normalize('NFC'))
  return new Promise((resolve, reject) => {
    scrypt(bytes, salt, length, options, (error, hash) => {
      if (error === null) resolve(hash)
      else reject(error)
    })
  })
}
