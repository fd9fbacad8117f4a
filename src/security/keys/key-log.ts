import { whenDone } from '../../maybe-promise.ts'
import type { Report } from '../../observation.ts'
import type { Row, StorageTransaction } from '../../storage/adapter.ts'
import { keepLatest } from '../keep-latest.ts'
import { securityCollections, type SecurityStorage } from '../collections.ts'
import { recordEvent } from './key-event.ts'
import { instantOf } from './key-lifetime.ts'
import { findKey, storedKey, type StoredKey } from './key-row.ts'
import type { KeyLookup, KeyRecord } from './key-store.ts'
import { rowFinder } from '../read-rows.ts'
import { equal } from '../../request/query.ts'
import { isRecent, rejectionCounter } from './rejection-counter.ts'

/** What the log of a service's keys is made of. */
export interface KeyLogParts {
  readonly storage: SecurityStorage
  readonly now: () => Date
  readonly report: Report
  /** Does work in the background, off the path of a request. */
  readonly defer: (work: () => Promise<unknown>) => void
}

/** A look-up of keys that keeps a log. */
export interface KeyLog extends KeyLookup {
  /** Writes down what was only counted so far: before a service closes. Never rejects. */
  flush(): Promise<void>
}

const { keys } = securityCollections
const writing = { mode: 'write', brief: true } as const
const mostRemembered = 10_000

/**
 * Finds the keys of requests, and writes down their use and rejections in the background: at most once a
 * minute for each key, or each key and reason. What can't be written is reported.
 */
export function createKeyLookup({ storage, now, report, defer }: KeyLogParts): KeyLog {
  const findRow = rowFinder(storage, keys)
  // When a use was last written, by key, the oldest first.
  const uses = new Map<string, number>()
  const rejections = rejectionCounter(mostRemembered)

  function inBackground(work: () => Promise<unknown>): void {
    try {
      defer(work)
    } catch (error) {
      report({ type: 'security-record-failed', error })
    }
  }

  async function write(
    work: (transaction: StorageTransaction) => Promise<void>,
  ): Promise<'written' | 'failed'> {
    try {
      await storage.transaction(writing, work)
      return 'written'
    } catch (error) {
      report({ type: 'security-record-failed', error })
      return 'failed'
    }
  }

  async function writeRejections(): Promise<void> {
    const taken = rejections.take()
    if (taken.length === 0) return
    const outcome = await write(async (transaction) => {
      for (const { key, reason, times, at } of taken) {
        await recordEvent(transaction, key, { event: 'rejected', reason, times }, at)
      }
    })
    if (outcome === 'failed') rejections.giveBack(taken)
  }

  return Object.freeze({
    find: (hash) => whenDone(findRow(hash), keyOf),
    used(key) {
      const at = now()
      if (rejections.sweep(at)) inBackground(writeRejections)
      if (isRecent(uses.get(key.keyId), at)) return
      // Another process may have written it.
      const known = key.lastUsed === null ? undefined : Date.parse(key.lastUsed)
      const written = isRecent(known, at)
      keepLatest(uses, key.keyId, written ? known : at.getTime(), mostRemembered)
      if (!written) inBackground(() => write((transaction) => writeUse(transaction, key, at)))
    },
    rejected(key, reason) {
      if (rejections.count(key, reason, now())) inBackground(writeRejections)
    },
    async flush() {
      rejections.release()
      await writeRejections()
    },
  } satisfies KeyLog)
}

function keyOf(row: Row | undefined): KeyRecord | undefined {
  return row && storedKey(row)
}

async function writeUse(
  transaction: StorageTransaction,
  key: KeyRecord & Partial<StoredKey>,
  at: Date,
): Promise<void> {
  const hash = key.hash ?? (await findKey(transaction, key.keyId))?.hash
  if (hash === undefined) return
  const lastUsed = instantOf(at)
  if (key.firstUsed !== null) {
    await transaction.update(keys, [equal('hash', hash)], { lastUsed })
    return
  }
  const unused = [equal('hash', hash), equal('firstUsed', null)]
  const first = await transaction.update(keys, unused, { firstUsed: lastUsed, lastUsed })
  if (first !== undefined) await recordEvent(transaction, key, { event: 'first-used' }, at)
}
