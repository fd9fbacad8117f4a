import { expect, test } from 'vitest'
import { places } from '../kit/process-databases.ts'
import { programs } from '../kit/programs.ts'
import type { CountingOrder } from './counting-process.ts'
import { counting, type Handlers } from './counting.ts'
import { clients, savesEach } from './together.ts'

const { start, folder } = programs<CountingOrder>('test/events/counting-process.ts')
const cases = places.flatMap(([name, missing, open]) =>
  (Object.keys(counting) as Handlers[]).map((handlers) => [name, handlers, missing, open] as const),
)

test.each(cases)(
  'on %s every save of one item by three processes is kept, with %s',
  { timeout: 90_000 },
  async (_, handlers, missing, open) => {
    if (missing !== undefined) return
    const { order: database, drop } = await open(folder)
    try {
      const first = start({ database, handlers })
      await first.said('ready')
      const others = [start({ database, handlers }), start({ database, handlers })]
      for (const one of others) await one.said('ready')
      const all = [first, ...others]
      for (const one of all) one.signal('SIGUSR2')
      for (const one of all) {
        const statuses = JSON.parse(await one.said('statuses')) as unknown
        expect(statuses).toEqual({ 200: clients * savesEach })
      }
      for (const one of all) expect(await one.stop()).toBe(0)
      expect(await first.said('value')).toBe(String(3 * clients * savesEach))
    } finally {
      await drop()
    }
  },
)
