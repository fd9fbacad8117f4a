import type { BuildTicket, QueueWorker } from '../deployment/queue.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { buildQueueCases } from './build-queue-cases.ts'
import type { QueueBench, QueueSubject } from './build-queue-subject.ts'

/** Options of {@link testBuildQueue}. */
export interface QueueConformanceOptions {
  /** The runner's function that registers a test: that of vitest, node:test, mocha and most others. */
  readonly test: (name: string, run: () => Promise<void>) => unknown
  /** Creates an empty queue for one case. */
  readonly create: () => MaybePromise<QueueSubject>
}

/**
 * Registers the cases of the port of build queues with a test runner. Deployment can use a queue that
 * passes all of them.
 */
export function testBuildQueue({ test, create }: QueueConformanceOptions): void {
  for (const { name, run } of buildQueueCases) {
    test(name, async () => {
      const subject = await create()
      const workers: QueueWorker[] = []
      const add = async (count: number): Promise<readonly BuildTicket[]> => {
        const tickets = Array.from({ length: count }, () => ({ releaseId: crypto.randomUUID() }))
        for (const ticket of tickets) {
          await subject.store(ticket)
          await subject.queue.announce(ticket)
        }
        return tickets
      }
      const process: QueueBench['process'] = (work, concurrency = 1) => {
        const worker = subject.queue.process(work, { concurrency })
        workers.push(worker)
        return worker
      }
      const { queue } = subject
      try {
        await run({
          queue,
          store: (ticket) => subject.store(ticket),
          claim: (ticket) => subject.claim(ticket),
          add,
          process,
        })
      } finally {
        await Promise.all(workers.map((worker) => worker.stop()))
        await subject.close()
      }
    })
  }
}
