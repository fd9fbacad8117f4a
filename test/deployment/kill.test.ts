import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { packageBuilder } from '../kit/builders.ts'
import { balance, type Balance } from './checker.ts'
import { processes, type ProcessOrder } from './processes.ts'
import { openDeployment } from './deployment-service.ts'

const { start, folder } = processes()

/** What became of the runs of one way to build: a run for each point at which its process was killed. */
interface Table {
  readonly points: number
  readonly runs: number
  /** Runs whose process was killed. */
  readonly killed: number
  /** Runs whose release was stored before the end. */
  readonly accepted: number
  /** Runs whose build was begun again. */
  readonly again: number
  readonly lost: number
  readonly doubled: number
}

test.each(['release', 'release-queue'] as const)(
  'a process that is killed at any point of a build loses and doubles nothing (%s)',
  { timeout: 180_000 },
  async (build) => {
    const whole = await runOnce({ build })
    const points = whole.marks
    const results: Run[] = []
    const waiting = Array.from({ length: points }, (_, index) => index + 1)
    const worker = async (): Promise<void> => {
      for (let killAt = waiting.shift(); killAt !== undefined; killAt = waiting.shift()) {
        results.push(await runOnce({ build, killAt }))
      }
    }
    await Promise.all([worker(), worker(), worker()])
    const count = (fits: (run: Run) => boolean): number => results.filter(fits).length
    const table: Table = {
      points,
      runs: results.length,
      killed: count(({ killed }) => killed !== undefined),
      accepted: count(({ releases }) => releases.length === 1),
      again: count(({ releases }) => releases.some(({ attempt }) => attempt > 1)),
      lost: count(({ lost }) => lost.length > 0),
      doubled: count(({ doubled }) => doubled.length > 0),
    }
    expect(table).toMatchObject({ runs: points, killed: points, lost: 0, doubled: 0 })
    // Both kinds of points were among them.
    expect(table.again).toBeGreaterThan(5)
    expect(table.accepted).toBeGreaterThan(table.again)
    expect(table.runs).toBeGreaterThan(table.accepted)
  },
)

interface Run extends Balance {
  readonly killed: string | undefined
  readonly marks: number
}

/** One build in a process that is killed; another one, this, works the queue until there is nothing to do. */
async function runOnce(given: Pick<ProcessOrder, 'build' | 'killAt'>): Promise<Run> {
  const directory = folder()
  const file = join(directory, 'data.db')
  const log = join(directory, 'log')
  const child = start({ name: 'first', database: { sqlite: file }, log, lease: 60_000, ...given })
  await child.ended
  const accepted = child.all('accepted')
  const storage = sqliteStorage(file, { ensureSchema: true })
  const second = await openDeployment({ storage, lease: 100, builder: packageBuilder() })
  await expect.poll(() => isQuiet(second), { interval: 20 }).toBe(true)
  const result = await balance(storage, { accepted, log })
  await second.service.close()
  return { ...result, killed: child.all('killed')[0], marks: Number(child.all('marks')[0] ?? 0) }
}

async function isQuiet({ client }: Awaited<ReturnType<typeof openDeployment>>): Promise<boolean> {
  const counts = ['queued', 'building'].map(async (status) => {
    const query = { solutionId: 'northwind', status, $count: true }
    return (await client.get('/svc-deploy/release', { query })).body.count
  })
  return (await Promise.all(counts)).every((count) => count === 0)
}
