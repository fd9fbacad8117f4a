import { requirePlainObject } from '../checks/plain-object.ts'
import type { BuildTicket, QueueWorker, BuildQueue } from '../deployment/queue.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { ensure, equal } from './assertion.ts'
import { pause } from './case.ts'

/** A queue under test, and the store of the releases that its tickets name. */
export interface QueueSubject {
  readonly queue: BuildQueue
  /** Stores a release as queued, as the service does before it announces the release. */
  store(ticket: BuildTicket): MaybePromise<void>
  /** Claims a release for its build, as a worker does. Returns false if it is no longer queued. */
  claim(ticket: BuildTicket): MaybePromise<boolean>
  /** Releases the resources of the queue. Its workers are stopped by then. */
  close(): MaybePromise<void>
}

/** Options of {@link testBuildQueue}. */
export interface QueueConformanceOptions {
  /** The function of the test runner that registers a test: `test` of vitest, node:test, mocha and most others. */
  readonly test: (name: string, run: () => Promise<void>) => unknown
  /** Creates an empty queue for one case. */
  readonly create: () => MaybePromise<QueueSubject>
}

/**
 * Registers the cases of the port of build queues with a test runner. Deployment can use a queue that
 * passes all of them.
 */
export function testBuildQueue(options: QueueConformanceOptions): void {
  requirePlainObject('The options', options, 'testBuildQueue')
  const { test, create } = options
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

/** One requirement of the port, and the code that tests it. */
interface QueueCase {
  readonly name: string
  run(bench: QueueBench): Promise<void>
}

/** The queue and the functions that a case uses. */
interface QueueBench extends Omit<QueueSubject, 'close'> {
  /** Stores and announces releases with new identifiers. */
  add(count: number): Promise<readonly BuildTicket[]>
  /** Starts a worker, which is stopped at the end of the case. */
  process(work: (ticket: BuildTicket) => Promise<void>, concurrency?: number): QueueWorker
}

const maxWaitMilliseconds = 10_000

/** Resolves as soon as the condition holds. Rejects if it does not hold in time. */
async function until(holds: () => boolean, subject: string): Promise<void> {
  const end = performance.now() + maxWaitMilliseconds
  while (!holds()) {
    ensure(
      performance.now() < end,
      `${subject}: this did not happen within ${maxWaitMilliseconds} ms.`,
    )
    await pause(5)
  }
}

/** Returns the work of a worker that claims each release and counts the claims. */
function counting({ claim }: QueueBench, claimed: Map<string, number>) {
  return async (ticket: BuildTicket): Promise<void> => {
    if (!(await claim(ticket))) return
    claimed.set(ticket.releaseId, (claimed.get(ticket.releaseId) ?? 0) + 1)
  }
}

/** Every case of the port of build queues. */
const buildQueueCases: readonly QueueCase[] = [
  {
    name: 'a worker gets the releases that were announced before it started',
    run: async (bench) => {
      const tickets = await bench.add(3)
      const claimed = new Map<string, number>()
      bench.process(counting(bench, claimed))
      await until(() => claimed.size === tickets.length, 'three releases that waited')
    },
  },
  {
    name: 'a waiting worker gets a release that is announced',
    run: async (bench) => {
      const claimed = new Map<string, number>()
      bench.process(counting(bench, claimed))
      await pause(30)
      const [ticket] = await bench.add(1)
      await until(() => claimed.has(ticket?.releaseId ?? ''), 'a release that came later')
    },
  },
  {
    name: 'several workers get all releases, each claimed once',
    run: async (bench) => {
      const claimed = new Map<string, number>()
      for (let worker = 0; worker < 3; worker++) bench.process(counting(bench, claimed), 2)
      const tickets = await bench.add(60)
      await until(() => claimed.size === tickets.length, 'sixty releases')
      equal(Math.max(...claimed.values()), 1, 'how often one was claimed')
    },
  },
  {
    name: 'a worker gets at most as many releases at a time as its concurrency',
    run: async (bench) => {
      let now = 0
      let maximum = 0
      let ended = 0
      bench.process(async (ticket) => {
        if (!(await bench.claim(ticket))) return
        maximum = Math.max(maximum, ++now)
        // The first ones wait for each other.
        for (let turns = 0; maximum < 3 && turns < 200; turns++) await pause(10)
        await pause(10)
        now--
        ended++
      }, 3)
      await bench.add(12)
      await until(() => ended === 12, 'twelve releases')
      equal(maximum, 3, 'the maximum at a time')
    },
  },
  {
    name: 'a release that was not claimed is delivered again if it is announced again',
    run: async (bench) => {
      const delivered: string[] = []
      bench.process(async ({ releaseId }) => {
        delivered.push(releaseId)
        await pause(1)
      })
      const [ticket] = await bench.add(1)
      ensure(ticket !== undefined, 'There is a ticket.')
      await until(() => delivered.length > 0, 'the first time')
      const before = delivered.length
      await bench.queue.announce(ticket)
      await until(() => delivered.length > before, 'the second time')
    },
  },
  {
    name: 'a release that is announced while a worker has it is delivered again',
    run: async (bench) => {
      let delivered = 0
      let announced = (): void => undefined
      const isAnnounced = new Promise<void>((resolve) => (announced = resolve))
      bench.process(async () => {
        delivered++
        await isAnnounced
      })
      const [ticket] = await bench.add(1)
      ensure(ticket !== undefined, 'There is a ticket.')
      await until(() => delivered > 0, 'the first time')
      await bench.queue.announce(ticket)
      announced()
      await until(() => delivered > 1, 'the second time')
    },
  },
  {
    name: 'a worker that stops finishes its releases and takes no more',
    run: async (bench) => {
      let begun = 0
      let ended = 0
      const worker = bench.process(async (ticket) => {
        await bench.claim(ticket)
        begun++
        await pause(50)
        ended++
      })
      await bench.add(5)
      await until(() => begun > 0, 'a release in progress')
      await worker.stop()
      equal(ended, begun, 'how many have ended')
      const taken = begun
      await bench.add(1)
      await pause(100)
      equal(begun, taken, 'how many were taken after the stop')
      await worker.stop()
    },
  },
  {
    name: 'the other workers continue after one has stopped',
    run: async (bench) => {
      const claimed = new Map<string, number>()
      const first = bench.process(counting(bench, claimed))
      bench.process(counting(bench, claimed))
      await first.stop()
      const tickets = await bench.add(4)
      await until(() => claimed.size === tickets.length, 'four releases')
    },
  },
]
