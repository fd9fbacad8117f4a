/** A running worker. It takes jobs until it is stopped. */
export interface Worker {
  /** Takes no more jobs, and resolves when the jobs in progress have ended. */
  stop(): Promise<void>
}

/** All workers of this process for one kind of jobs. */
export interface WorkerPool {
  /** Starts a worker that runs up to `concurrency` jobs at a time. */
  work(concurrency: number): Worker
  /** Stops all workers. */
  stop(): Promise<void>
}

/** Creates a pool of workers that `start` starts. */
export function workerPool(start: (concurrency: number) => Worker): WorkerPool {
  const workers = new Set<Worker>()
  return {
    work: (concurrency) => {
      const started = start(concurrency)
      let stopping: Promise<void> | undefined
      const worker: Worker = {
        stop: () => {
          stopping ??= started.stop().finally(() => workers.delete(worker))
          return stopping
        },
      }
      workers.add(worker)
      return worker
    },
    stop: async () => {
      await Promise.all([...workers].map((worker) => worker.stop()))
    },
  }
}
