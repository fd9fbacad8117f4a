import { errorOf } from '../errors.ts'
import { keepLatest } from '../keep-latest.ts'
import { messageOf } from '../messages/message.ts'
import { runtime } from '../runtime.ts'
import type { KeyStore } from './key-store.ts'
import type { KeyedRequest } from './keyed-request.ts'

interface Counted {
  readonly count: number
  /** In milliseconds of the process. */
  readonly at: number
}

const maxOwners = 10_000
const recountAfter = 60_000
// A caller who has reached the limit must not make storage count with every request.
const fullFor = 10_000

/**
 * Limits the keys that a caller has in storage. They are counted once a minute, so that other processes may add some
 * meanwhile.
 */
export class KeyLimit {
  readonly #store: Pick<KeyStore, 'count'>
  readonly #counts = new Map<string, Counted>()

  constructor(store: Pick<KeyStore, 'count'>) {
    this.#store = store
  }

  /** Counts a new key. Throws TOO_MANY_REQUESTS if the caller has too many. */
  async add(keyed: KeyedRequest): Promise<void> {
    const { owner, options } = keyed
    const known = this.#counts.get(owner)
    const isFull = known !== undefined && known.count >= options.maxKeys
    const isKnown =
      known !== undefined && runtime.performanceNow() - known.at < (isFull ? fullFor : recountAfter)
    const { count, at } = isKnown
      ? known
      : { count: await this.#store.count(keyed), at: runtime.performanceNow() }
    const hasRoom = count < options.maxKeys
    keepLatest(this.#counts, owner, { count: hasRoom ? count + 1 : count, at }, maxOwners)
    if (hasRoom) return
    throw errorOf('TOO_MANY_REQUESTS', messageOf('tooManyRequests', {}), {
      cause: new Error('The caller has too many idempotency keys.'),
      headers: { 'Retry-After': '60' },
    })
  }
}
