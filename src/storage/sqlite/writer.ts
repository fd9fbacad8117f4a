import type { MaybePromise } from '../../maybe-promise.ts'
import { StorageError, type TransactionOptions } from '../adapter.ts'
import type { Connection } from './connection.ts'
import { handleInUse, isBusy, storageFailure, type Operation } from './failure.ts'

/** Lets one transaction at a time use a connection, and several brief ones share a commit. */
export interface Writer {
  /** Runs work in a transaction when its turn has come. */
  transaction<Result>(options: TransactionOptions, work: () => Promise<Result>): Promise<Result>
  /** Runs synchronous work now, or as soon as no transaction is open on the connection. */
  between<Result>(work: () => Result): MaybePromise<Result>
  /** Refuses what waits, and resolves once what runs has ended. */
  close(): Promise<void>
}

/** What a writer has to know. */
export interface WriterOptions {
  /** Milliseconds that a transaction waits for a lock that another connection holds. */
  readonly busyTimeout: number
  /** Whether transactions may share a commit. */
  readonly sharesCommits: () => boolean
  /** Told after each commit. */
  readonly committed: () => void
  /** What the open transaction did: it tells what a constraint that fails at the commit means. */
  readonly operation: () => Operation
}

interface Waiting {
  readonly options: TransactionOptions
  readonly since: number
  /** Runs the work. Never rejects. */
  perform(): Promise<Performed>
  refuse(error: unknown): void
}

interface Performed {
  readonly failed: boolean
  readonly error?: unknown
  accept(): void
  refuse(error: unknown): void
}

const mostShared = 128
const pauseMilliseconds = 3

/** A writer on a connection that nothing else writes through. */
export function sqliteWriter(connection: Connection, options: WriterOptions): Writer {
  const beginImmediate = connection.command('BEGIN IMMEDIATE')
  const beginDeferred = connection.command('BEGIN')
  const commitCommand = connection.command('COMMIT')
  const rollbackCommand = connection.command('ROLLBACK')
  const savepoint = connection.command('SAVEPOINT rowgate_turn')
  const release = connection.command('RELEASE rowgate_turn')
  const rollbackTo = connection.command('ROLLBACK TO rowgate_turn')
  const queue: Waiting[] = []
  const readers: { run(): void; refuse(error: unknown): void }[] = []
  let running: Promise<void> | undefined
  let open = false
  let blockedSince: number | undefined
  let closed = false

  function schedule(): void {
    running ??= runAll().finally(() => {
      running = undefined
      if (queue.length > 0) schedule()
    })
  }

  async function runAll(): Promise<void> {
    for (;;) {
      // Every socket that is ready has delivered its request by then: they make one batch.
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (queue.length === 0) return
      const began = begin(queue[0] as Waiting)
      if (began !== true) {
        if (isBusy(began)) await pause(began)
        else queue.shift()?.refuse(storageFailure(began, 'save'))
        continue
      }
      open = true
      const shares = isShareable(queue[0]) && isShareable(queue[1])
      await (shares ? runShared() : runAlone(queue.shift() as Waiting))
      open = false
      for (const reader of readers.splice(0)) reader.run()
    }
  }

  function begin(first: Waiting): unknown {
    try {
      if (connection.inTransaction()) throw handleInUse()
      if (first.options.mode === 'read') beginDeferred()
      else beginImmediate()
      blockedSince = undefined
      return true
    } catch (error) {
      return error
    }
  }

  async function pause(cause: unknown): Promise<void> {
    blockedSince ??= performance.now()
    const limit = performance.now() - options.busyTimeout
    const patient = queue.splice(0).filter((waiting) => {
      if (Math.max(waiting.since, blockedSince ?? 0) > limit) return true
      waiting.refuse(storageFailure(cause, 'save'))
      return false
    })
    queue.push(...patient)
    if (queue.length > 0) await sleep(pauseMilliseconds)
    else blockedSince = undefined
  }

  function isShareable(waiting: Waiting | undefined): boolean {
    if (waiting === undefined || !options.sharesCommits()) return false
    return waiting.options.brief && waiting.options.mode === 'write'
  }

  async function runAlone(waiting: Waiting): Promise<void> {
    const performed = await waiting.perform()
    if (!connection.inTransaction()) performed.refuse(undone(performed.error))
    else if (performed.failed) {
      rollback()
      performed.refuse(performed.error)
    } else await commit([performed])
  }

  async function runShared(): Promise<void> {
    const members: Performed[] = []
    while (members.length < mostShared && isShareable(queue[0])) {
      const waiting = queue.shift() as Waiting
      let broken: unknown = attempt(savepoint)
      const performed = await waiting.perform()
      members.push(performed)
      // A full disk or an I/O error may have undone the whole transaction.
      if (connection.inTransaction()) {
        if (performed.failed) broken ??= attempt(rollbackTo)
        broken ??= attempt(release)
      } else broken ??= undone(performed.error)
      if (broken === undefined) continue
      rollback()
      for (const member of members) member.refuse(undone(broken))
      return
    }
    await commit(members)
  }

  // Nobody is answered before the commit: a refusal, too, may rest on what another member wrote.
  async function commit(members: readonly Performed[]): Promise<void> {
    const began = performance.now()
    let error = attempt(commitCommand)
    while (isBusy(error) && performance.now() - began < options.busyTimeout) {
      await sleep(pauseMilliseconds)
      error = attempt(commitCommand)
    }
    if (error === undefined) {
      options.committed()
      for (const member of members) {
        if (member.failed) member.refuse(member.error)
        else member.accept()
      }
      return
    }
    rollback()
    const failure = storageFailure(error, options.operation())
    for (const member of members) member.refuse(failure)
  }

  function rollback(): void {
    if (connection.inTransaction()) attempt(rollbackCommand)
  }

  return {
    transaction<Result>(
      transactionOptions: TransactionOptions,
      work: () => Promise<Result>,
    ): Promise<Result> {
      if (closed) return Promise.reject(closedError())
      return new Promise<Result>((accept, refuse) => {
        const perform = async (): Promise<Performed> => {
          try {
            const result = await work()
            return { failed: false, accept: () => accept(result), refuse }
          } catch (error) {
            return { failed: true, error, accept: () => refuse(error), refuse }
          }
        }
        queue.push({ options: transactionOptions, since: performance.now(), perform, refuse })
        schedule()
      })
    },
    between<Result>(work: () => Result): MaybePromise<Result> {
      if (closed) return Promise.reject(closedError())
      if (!open) return work()
      return new Promise<Result>((resolve, refuse) => {
        const run = (): void => {
          try {
            resolve(work())
          } catch (error) {
            refuse(error)
          }
        }
        readers.push({ run, refuse })
      })
    },
    async close() {
      closed = true
      for (const waiting of queue.splice(0)) waiting.refuse(closedError())
      for (const reader of readers.splice(0)) reader.refuse(closedError())
      await running
    },
  }
}

function attempt(command: () => void): unknown {
  try {
    command()
    return undefined
  } catch (error) {
    return error
  }
}

function undone(cause: unknown): StorageError {
  return new StorageError('unavailable', { cause })
}

/** What every call after `close` is answered with. */
export function closedError(): StorageError {
  return new StorageError('unavailable', { cause: new Error('the storage is closed') })
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
