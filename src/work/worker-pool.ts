/** A running worker. It takes jobs until it is stopped. */
export interface Worker {
  /** Takes no more jobs, and resolves when the jobs in progress have ended. */
  stop(): Promise<void>
}

/** All workers of this process for one kind of jobs. */
export class WorkerPool<Started extends Worker = Worker> {
  readonly #start: (concurrency: number) => Started
  readonly #running = new Set<Started>()
  readonly #stopping = new WeakMap<Started, Promise<void>>()

  constructor(start: (concurrency: number) => Started) {
    this.#start = start
  }

  /** The workers that are not stopped. */
  get running(): Iterable<Started> {
    return this.#running
  }

  /** Starts a worker that runs up to `concurrency` jobs at a time. */
  work(concurrency: number): Worker {
    const started = this.#start(concurrency)
    this.#running.add(started)
    return { stop: () => this.#stop(started) }
  }

  /** Stops all workers. */
  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((started) => this.#stop(started)))
  }

  #stop(started: Started): Promise<void> {
    const stopping =
      this.#stopping.get(started) ?? started.stop().finally(() => this.#running.delete(started))
    this.#stopping.set(started, stopping)
    return stopping
  }
}
