import type { BuildQueue, BuildTicket } from '../queue.ts'

/** The member of a `Queue` of BullMQ that the build queue uses. */
export interface BullmqQueue {
  add(
    name: string,
    data: BuildTicket,
    options: { removeOnComplete: boolean; removeOnFail: boolean },
  ): Promise<unknown>
}

/** The member of a `Worker` of BullMQ that the build queue uses. */
export interface BullmqWorker {
  close(): Promise<void>
}

/** Creates a `Worker` of BullMQ for the same queue and Redis server, with this processor and these options. */
export type StartBullmqWorker = (
  processor: (job: { readonly data: BuildTicket }) => Promise<void>,
  options: { readonly concurrency: number },
) => BullmqWorker

// The release's row has the result.
const removed = { removeOnComplete: true, removeOnFail: true }

/**
 * Creates a build queue in BullMQ. Close `queue` after the service has closed; the workers are closed with their
 * service.
 */
export function bullmqQueue(queue: BullmqQueue, startWorker: StartBullmqWorker): BuildQueue {
  return {
    name: 'BullMQ',
    announce: async ({ releaseId }) => {
      // Without `jobId`: BullMQ drops a job while another one with its id is in progress.
      await queue.add('build', { releaseId }, removed)
    },
    process: (work, { concurrency }) => {
      const worker = startWorker(({ data }) => work(data), { concurrency })
      return { stop: () => worker.close() }
    },
  }
}
