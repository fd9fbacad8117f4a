import type { PublishedCollection } from '../../src/definition/published.ts'
import { everyCondition } from '../../src/request/query.ts'
import { isOwn } from '../../src/storage/pool/commits.ts'
import { VersionClock } from '../../src/storage/pool/version-clock.ts'
import {
  StorageError,
  type Row,
  type StorageAdapter,
  type StorageTransaction,
} from '../../src/storage/adapter.ts'
import { tableName, type Database, type State } from './database.ts'
import type { Link } from './link.ts'
import { Violation } from './violation.ts'

/** How a storage serves reads and versions. */
export interface AdapterOptions {
  /**
   * `polled`: versions of the library's own tables, as behind a pool. `shared`: versions of all tables, as of a file, so that
   * responses are cached.
   */
  readonly versions: 'polled' | 'shared'
  /** For how long a version may be old, in milliseconds. */
  readonly maxStaleness: number
  /** For how long reads of application tables may miss the commits of other processes; 0: there is no replica. */
  readonly replicaLag: number
}

/** What an adapter knows of its own commits. */
interface OwnCommits {
  /** The number of the last one. */
  last: number
  count: number
}

/** Creates the storage of one process on the shared database. */
export function simulatedStorage(
  database: Database,
  link: Link,
  options: AdapterOptions,
): StorageAdapter {
  const own: OwnCommits = { last: 0, count: 0 }
  const transaction = transactions(database, link, own)
  // Only the tables that versions are asked of: with each commit of any table, no caller would be remembered.
  const poll = (): Promise<string> => link.call('poll', () => String(database.changedOwn))
  const clock = new VersionClock(poll, options.maxStaleness)
  // Each version that is used, although callers are remembered by some of them only.
  const checkedVersion: NonNullable<StorageAdapter['version']> = (collections) => {
    const version = clock.version(collections)
    const missed = database.firstOwnAfter(Number(String(version).split(' ')[1]))
    if (version !== undefined && missed !== undefined && link.time - missed > options.maxStaleness)
      link.breaks(new Violation('A version misses a commit that is older than the bound.'))
    return version
  }
  const isPolled = options.versions === 'polled'
  const stateFor = (collection: PublishedCollection): State => {
    if (options.replicaLag === 0 || isOwn(collection)) return database.latest
    return database.stateAt(link.time - options.replicaLag * link.random.next(), own.last)
  }
  return {
    name: 'simulated',
    supports: {
      textPages: false,
      durable: true,
      generatedNumbers: true,
      rowLocks: true,
      conditions: everyCondition,
    },
    open: (collections) => link.call('open', () => database.open(collections)),
    filter: async (collection, query) => {
      link.requireOpen(`filter of ${collection.table}`)
      return link.call('filter', () => database.read(stateFor(collection), collection, query))
    },
    version: isPolled ? checkedVersion : sharedVersion(database, link, own, options.maxStaleness),
    transaction: async (kind, work) => {
      link.requireOpen('transaction')
      return (isPolled ? clock.counting(transaction) : transaction)(kind, work)
    },
    close: () => {
      clock.stop()
      link.close()
    },
  }
}

function lost(): StorageError {
  return new StorageError('unavailable', { message: 'the connection is lost' })
}

/** Returns the version of a file: own commits count at once, others once the version is asked again. */
function sharedVersion(
  database: Database,
  link: Link,
  own: OwnCommits,
  maxStaleness: number,
): NonNullable<StorageAdapter['version']> {
  let asked = -Infinity
  let known = 0
  let seen = -1
  return (collections) => {
    if (link.time - asked > maxStaleness || seen !== own.count || maxStaleness === 0) {
      asked = link.time
      known = database.latest.number
      seen = own.count
    }
    const last = Math.max(
      0,
      ...collections.map((each) => database.changed.get(tableName(each)) ?? 0),
    )
    return `${Math.min(last, known)}`
  }
}

function transactions(
  database: Database,
  link: Link,
  own: OwnCommits,
): StorageAdapter['transaction'] {
  return async (options, work) => {
    const session = database.begin(link)
    const state = { hasBegun: false, hasCommitted: false }
    const noteCommit = (): void => {
      state.hasCommitted = true
      own.last = database.latest.number
      own.count += 1
    }
    const run = <Result>(what: string, statement: () => Result): Promise<Result> => {
      if (session.isEnded && !state.hasCommitted) throw lost()
      if (state.hasCommitted) throw new Error('The transaction has ended.')
      state.hasBegun = true
      return link.call(what, statement, session)
    }
    const write = (what: string, statement: () => Row | undefined): Promise<Row | undefined> =>
      run(what, () => {
        const row = statement()
        if (options.oneWrite === true && row !== undefined) session.commit(link.time)
        return row
      }).then((row) => {
        if (options.oneWrite === true && row !== undefined) noteCommit()
        return row
      })
    const on: StorageTransaction = {
      filter: async (collection, query) => run('read', () => session.filter(collection, query)),
      insert: async (collection, row) =>
        (await write('insert', () => session.insert(collection, row))) as Row,
      update: async (collection, conditions, changes) =>
        write('update', () => session.update(collection, conditions, changes)),
      delete: async (collection, conditions) =>
        write('delete', () => session.delete(collection, conditions)),
    }
    try {
      const result = await work(on)
      if (state.hasBegun && !state.hasCommitted) {
        await link.call('commit', () => link.commit(session), session)
        noteCommit()
      }
      return result
    } catch (error) {
      if (!state.hasCommitted) link.abandon(session)
      throw error
    }
  }
}
