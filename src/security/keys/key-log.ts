import { whenDone } from '../../maybe-promise.ts'
import type { Report } from '../../observation/reports.ts'
import type { StorageTransaction } from '../../storage/adapter.ts'
import { table, tableReader } from '../../storage/table.ts'
import { keepLatest } from '../../keep-latest.ts'
import { securityCollections, type SecurityStorage } from '../collections.ts'
import { recordKeyEvent } from '../audit.ts'
import { instantOf } from './key-lifetime.ts'
import { findKey, storedKey, type StoredKey } from './key-row.ts'
import type { KeyLookup, KeyRecord } from './key-store.ts'
import { isRecent, RejectionCounter } from './rejection-counter.ts'
import { createRequestLog, type Work } from './request-log.ts'

/** What the key log of a service needs. */
export interface KeyLogOptions {
  readonly storage: SecurityStorage
  readonly now: () => Date
  readonly report: Report
  /** Runs work in the background. */
  readonly defer: (work: () => Promise<unknown>) => void
}

/** Finds keys, and records their use and rejections. */
export interface KeyLog extends KeyLookup {
  /** Writes the pending counts, before a service closes. Never rejects. */
  flush(): Promise<void>
}

const { keys } = securityCollections
const writing = { mode: 'write', brief: true } as const
const maxTracked = 10_000

/**
 * Creates a key log. It writes in the background: the use of each key, the rejections of each key and reason, and the
 * number of requests of each key and day, at most once a minute. Failed writes are reported.
 */
export function createKeyLog({ storage, now, report, defer }: KeyLogOptions): KeyLog {
  const stored = tableReader(storage, keys)
  const isUseWritten = writtenUses()
  const rejections = new RejectionCounter(maxTracked)

  function inBackground(work: () => Promise<unknown>): void {
    try {
      defer(work)
    } catch (error) {
      report({ type: 'security-record-failed', error })
    }
  }

  async function write(work: Work): Promise<boolean> {
    try {
      await storage.transaction(writing, work)
      return true
    } catch (error) {
      report({ type: 'security-record-failed', error })
      return false
    }
  }

  const requests = createRequestLog(maxTracked, { write, inBackground, now })

  async function writeRejections(): Promise<void> {
    const taken = rejections.take()
    if (taken.length === 0) return
    const isWritten = await write(async (transaction) => {
      for (const { key, reason, times, at } of taken) {
        await recordKeyEvent(transaction, key, { event: 'rejected', reason, times }, at)
      }
    })
    if (!isWritten) rejections.restore(taken)
  }

  async function writeBoth(key: KeyRecord, at: Date): Promise<void> {
    if (await write((transaction) => writeUse(transaction, key, at))) await requests.write()
  }

  return Object.freeze({
    find: (hash) => whenDone(stored.one({ hash }), (row): KeyRecord | undefined => storedKey(row)),
    used(key) {
      const at = now()
      requests.count(key, at)
      if (rejections.sweep(at)) inBackground(writeRejections)
      if (!isUseWritten(key, at)) inBackground(() => writeBoth(key, at))
      // Timers of a request end with it on Workers, where the next request has to write.
      else if (requests.isDue(at)) inBackground(requests.write)
    },
    rejected(key, reason) {
      if (rejections.count(key, reason, now())) inBackground(writeRejections)
    },
    async flush() {
      rejections.release()
      await writeRejections()
      await requests.end()
    },
  } satisfies KeyLog)
}

/**
 * Returns a function that returns whether a use of a key was written within the last minute. If not, it notes that the
 * caller writes the use at this time.
 */
function writtenUses(): (key: KeyRecord, at: Date) => boolean {
  // The time of the last written use by key identifier, the oldest first.
  const uses = new Map<string, number>()
  return ({ keyId, lastUsed }, at) => {
    if (isRecent(uses.get(keyId), at)) return true
    // Another process may have written the use.
    const known = Date.parse(String(lastUsed))
    const isWritten = isRecent(known, at)
    keepLatest(uses, keyId, isWritten ? known : at.getTime(), maxTracked)
    return isWritten
  }
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
    await table(transaction, keys).change({ hash }, { lastUsed })
    return
  }
  const unused = { hash, firstUsed: null }
  const first = await table(transaction, keys).change(unused, { firstUsed: lastUsed, lastUsed })
  if (first !== undefined) await recordKeyEvent(transaction, key, { event: 'first-used' }, at)
}
