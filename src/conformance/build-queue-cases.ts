import type { BuildTicket } from '../deployment/queue.ts'
import { ensure, equal } from './assertion.ts'
import type { QueueBench, QueueCase } from './build-queue-subject.ts'
import { pause } from './case.ts'

const longestWait = 10_000

/** Waits until something holds. Fails the case when it never does. */
async function until(holds: () => boolean, subject: string): Promise<void> {
  const end = performance.now() + longestWait
  while (!holds()) {
    ensure(performance.now() < end, `${subject}: it did not come to that.`)
    await pause(5)
  }
}

/** A worker's work that claims what it is handed, and counts it. */
function counting({ claim }: QueueBench, claimed: Map<string, number>) {
  return async (ticket: BuildTicket): Promise<void> => {
    if (!(await claim(ticket))) return
    claimed.set(ticket.releaseId, (claimed.get(ticket.releaseId) ?? 0) + 1)
  }
}

/** Every case of the port of build queues. */
export const buildQueueCases: readonly QueueCase[] = [
  {
    name: 'what was announced before there was a worker is handed out',
    run: async (bench) => {
      const tickets = await bench.add(3)
      const claimed = new Map<string, number>()
      bench.process(counting(bench, claimed))
      await until(() => claimed.size === tickets.length, 'three releases that waited')
    },
  },
  {
    name: 'what is announced to a worker that waits is handed out',
    run: async (bench) => {
      const claimed = new Map<string, number>()
      bench.process(counting(bench, claimed))
      await pause(30)
      const [ticket] = await bench.add(1)
      await until(() => claimed.has(ticket?.releaseId ?? ''), 'a release that came later')
    },
  },
  {
    name: 'of many releases and several workers, each is handed out',
    run: async (bench) => {
      const claimed = new Map<string, number>()
      for (let worker = 0; worker < 3; worker++) bench.process(counting(bench, claimed), 2)
      const tickets = await bench.add(60)
      await until(() => claimed.size === tickets.length, 'sixty releases')
      equal(Math.max(...claimed.values()), 1, 'how often one was claimed')
    },
  },
  {
    name: 'a worker has at most as many at a time as it asked for',
    run: async (bench) => {
      let now = 0
      let most = 0
      let ended = 0
      bench.process(async (ticket) => {
        if (!(await bench.claim(ticket))) return
        most = Math.max(most, ++now)
        await pause(10)
        now--
        ended++
      }, 3)
      await bench.add(12)
      await until(() => ended === 12, 'twelve releases')
      equal(most, 3, 'the most at a time')
    },
  },
  {
    name: 'what was not claimed is handed out again when it is announced again',
    run: async (bench) => {
      const handed: string[] = []
      bench.process(async ({ releaseId }) => {
        handed.push(releaseId)
        await pause(1)
      })
      const [ticket] = await bench.add(1)
      ensure(ticket !== undefined, 'There is a ticket.')
      await until(() => handed.length > 0, 'the first time')
      const before = handed.length
      await bench.queue.announce(ticket)
      await until(() => handed.length > before, 'the second time')
    },
  },
  {
    name: 'a worker that stops waits for what it has, and takes no more',
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
    name: 'a worker that stops leaves the others to work',
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
