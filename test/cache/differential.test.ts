import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { drivers } from '../kit/databases.ts'
import { programs } from '../kit/programs.ts'
import { compare } from './differential.ts'
import { openPair } from './differential-services.ts'
import type { Order } from './foreign-writer.ts'

// `npm run test:matrix` compares many more.
const answers = Number(process.env['CACHE_ANSWERS'] ?? 4_000)
const started = programs<Order>('test/cache/foreign-writer.ts')
const driver = drivers[0] ?? 'node:sqlite'

test.each([
  ['16 MiB', 16 * 1024 * 1024],
  ['room for few responses', 16 * 1024],
])(
  'with %s, no response is wrong while two processes write',
  async (_title, maxBytes) => {
    const file = join(started.folder(), 'data.db')
    const pair = await openPair(file, driver, { maxBytes })
    onTestFinished(() => pair.close())
    const writers = [1, 2].map((seed) => started.start({ file, driver, seed }))
    for (const writer of writers) await writer.said('started')
    const counts = await compare(pair, { answers, seed: maxBytes })
    for (const writer of writers) expect(await writer.stop()).toBe(0)
    const writes = writers.map((writer) => Number(writer.all('writes')[0]))
    if (process.env['CACHE_ANSWERS'] !== undefined) console.log({ ...counts, foreign: writes })
    expect(counts).toMatchObject({ stale: 0, staleExamples: [], ownMissed: 0, ofOthers: 0 })
    expect(Math.min(...writes, counts.hits, counts.ownWrites)).toBeGreaterThan(0)
  },
  30_000 + 5 * answers,
)
