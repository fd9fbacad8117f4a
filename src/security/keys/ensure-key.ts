import type { Row, StorageTransaction } from '../../storage/adapter.ts'
import { equal } from '../../request/query.ts'
import { securityCollections } from '../collections.ts'
import { readRow } from '../read-rows.ts'
import { recordEvent } from './key-event.ts'
import { isKeyText } from './key-form.ts'
import { storedKey, type StoredKey } from './key-row.ts'

const { keys } = securityCollections
const minDistinctCharacters = 10

/** Returns a chosen key. Throws a TypeError if it is missing, malformed or obviously not random. */
export function requireChosenKey(text: unknown): string {
  const place = 'keys.ensure.key'
  if (text === undefined || text === '')
    throw new TypeError(`${place} is missing: set the environment variable with the key`)
  const advice = `make one with: node -p "crypto.randomBytes(32).toString('base64url')"`
  if (typeof text !== 'string' || !isKeyText(text))
    throw new TypeError(`${place} must be 16 to 128 random bytes in base64url; ${advice}`)
  if (new Set(text).size < minDistinctCharacters)
    throw new TypeError(`${place} is not random: it has too few different characters; ${advice}`)
  return text
}

/**
 * Stores a key unless one with its hash exists, which is returned unchanged, even if it is revoked. Rejects
 * with a TypeError if that one belongs to another user or provider.
 */
export async function storeMissingKey(
  transaction: StorageTransaction,
  wanted: StoredKey,
  at: Date,
): Promise<StoredKey> {
  const row: Row | undefined = await readRow(transaction, keys, [equal('hash', wanted.hash)])
  if (row === undefined) {
    await transaction.insert(keys, { ...wanted })
    await recordEvent(transaction, wanted, { event: 'created' }, at)
    return wanted
  }
  const found = storedKey(row)
  if (found.user !== wanted.user || found.provider !== wanted.provider)
    throw new TypeError(
      'keys.ensure.key is the key of another user or provider; choose another key',
    )
  return found
}
