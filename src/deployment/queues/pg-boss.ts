import * as z from 'zod/mini'
import { milliseconds, nonEmpty } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { PollingWorker } from '../../work/polling-worker.ts'
import { ticketOf, type BuildQueue, type BuildTicket, type QueueWorker } from '../queue.ts'

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
  const jobs = new PgBossJobs(boss, name, pollInterval)
  // A lost connection must not end the process, also before the service is open and after it has closed.
  boss.on?.('error', () => undefined)
  return {
    name: 'pg-boss',
    announce: (ticket) => jobs.announce(ticket),
    process: (work, { concurrency }) => jobs.process(work, concurrency),
  }
}

/** The jobs of a queue of pg-boss, and the workers of this process. */
class PgBossJobs {
  readonly #boss: PgBossLike
  readonly #name: string
  readonly #pollInterval: number
  readonly #workers = new Set<PollingWorker<PgBossJob>>()
  #creating: Promise<unknown> | undefined

  constructor(boss: PgBossLike, name: string, pollInterval: number) {
    this.#boss = boss
    this.#name = name
    this.#pollInterval = pollInterval
  }

  async announce(ticket: BuildTicket): Promise<void> {
    await this.#add(ticket)
    for (const worker of this.#workers) worker.wake()
  }

  process(work: (ticket: BuildTicket) => Promise<void>, concurrency: number): QueueWorker {
    const state = { stopped: false }
    // Not `boss.work()`: it takes the next job while a long build continues, its `offWork()` does not wait,
    // and it ends the process if the database can't be reached when a job has ended.
    const worker = new PollingWorker<PgBossJob>({
      find: async ({ room }) => {
        const jobs = await this.#take(room)
        if (!state.stopped) return jobs
        for (const ticket of jobs.map(({ data }) => ticketOf(data)))
          if (ticket !== undefined) await this.#add(ticket)
        return []
      },
      idOf: ({ id }) => id,
      work: async ({ id, data }) => {
        await work(data as BuildTicket)
        await this.#boss.complete(this.#name, id).catch(() => undefined)
      },
      concurrency,
      pollInterval: this.#pollInterval,
      // The next poll repeats it. pg-boss reports lost connections as its event `error`.
      report: () => undefined,
    })
    this.#workers.add(worker)
    return {
      stop: () => {
        state.stopped = true
        this.#workers.delete(worker)
        return worker.stop()
      },
    }
  }

  async #take(batchSize: number): Promise<readonly PgBossJob[]> {
    await this.#create()
    return this.#boss.fetch(this.#name, { batchSize })
  }

  async #add({ releaseId }: BuildTicket): Promise<void> {
    await this.#create()
    await this.#boss.send(this.#name, { releaseId }, once)
  }

  #create(): Promise<unknown> {
    this.#creating ??= this.#boss.createQueue(this.#name).catch((error: unknown) => {
      this.#creating = undefined
      throw error
    })
    return this.#creating
  }
}
