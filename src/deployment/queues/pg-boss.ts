import * as z from 'zod/mini'
import { milliseconds, nonEmpty } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { PollingWorker } from '../../work/polling-worker.ts'
import { ticketOf, type BuildQueue, type BuildTicket } from '../queue.ts'

/** The members of a `PgBoss` that the queue uses. */
export interface PgBossLike {
  createQueue(name: string): Promise<unknown>
  send(name: string, data: object, options: { retryLimit: number }): Promise<unknown>
  fetch(name: string, options: { batchSize: number }): Promise<readonly PgBossJob[]>
  complete(name: string, id: string): Promise<unknown>
  /** Listens to errors of its connections. Without a listener they would end the process. */
  on?(event: 'error', listener: (error: Error) => void): unknown
}

/** A job of pg-boss. */
export interface PgBossJob {
  readonly id: string
  /** Any program that reaches the database may have written it. */
  readonly data: unknown
}

/** Options of {@link pgBossQueue}. */
export interface PgBossQueueOptions {
  /** The name of the queue in pg-boss, which is created if it is missing. Default `rowgate-builds`. */
  readonly name?: string
  /**
   * Milliseconds between two polls for builds that other processes have announced. Builds that are announced
   * in this process are taken at once. Default 1000.
   */
  readonly pollInterval?: number
}

const shape = z.strictObject({
  name: z._default(nonEmpty, 'rowgate-builds'),
  pollInterval: z._default(milliseconds(1, 3_600_000), 1_000),
})

// A job that is not completed, because its process has died or its build takes longer than the 15 minutes of
// pg-boss, is not repeated: workers announce the release again if its row says that it needs a worker.
const once = { retryLimit: 0 }

/**
 * Creates a build queue in pg-boss. `boss.start()` must have resolved before a service uses the
 * queue; call `boss.stop()` after the service has closed. Throws a TypeError for options that are not valid.
 */
export function pgBossQueue(boss: PgBossLike, options: PgBossQueueOptions = {}): BuildQueue {
  const { name, pollInterval } = completeOptions('pgBossQueue', shape, options)
  const wakers = new Set<() => void>()
  let creating: Promise<unknown> | undefined
  // A lost connection must not end the process, also before the service is open and after it has closed.
  boss.on?.('error', () => undefined)

  function created(): Promise<unknown> {
    creating ??= boss.createQueue(name).catch((error: unknown) => {
      creating = undefined
      throw error
    })
    return creating
  }

  async function send({ releaseId }: BuildTicket): Promise<void> {
    await created()
    await boss.send(name, { releaseId }, once)
  }

  return {
    name: 'pg-boss',
    announce: async (ticket) => {
      await send(ticket)
      for (const wake of wakers) wake()
    },
    process: (work, { concurrency }) => {
      const state = { stopped: false }
      // Not `boss.work()`: it takes the next job while a long build continues, its `offWork()` does not wait,
      // and it ends the process if the database can't be reached when a job has ended.
      const worker = new PollingWorker<PgBossJob>({
        find: async ({ room }) => {
          await created()
          const jobs = await boss.fetch(name, { batchSize: room })
          if (!state.stopped) return jobs
          for (const ticket of jobs.map(({ data }) => ticketOf(data)))
            if (ticket !== undefined) await send(ticket)
          return []
        },
        idOf: ({ id }) => id,
        work: async ({ id, data }) => {
          await work(data as BuildTicket)
          await boss.complete(name, id).catch(() => undefined)
        },
        concurrency,
        pollInterval,
        // The next poll repeats it. pg-boss reports lost connections as its event `error`.
        report: () => undefined,
      })
      const wake = (): void => {
        worker.wake()
      }
      wakers.add(wake)
      return {
        stop: () => {
          state.stopped = true
          wakers.delete(wake)
          return worker.stop()
        },
      }
    },
  }
}
