import { expect, onTestFinished, test } from 'vitest'
import { base } from '../contract/contract.ts'
import { start } from '../contract/running.ts'
import { cells } from '../kit/cells.ts'

test.each(cells)('$name: a cached response is the same, byte for byte', async (cell) => {
  const { service, send, stop } = await start(cell, {})
  onTestFinished(stop)
  for (const path of ['/customers', '/customers?$limit=50&$count=true', '/customers/ALFKI']) {
    const before = service.statistics().cache?.hits ?? 0
    const responses: unknown[] = []
    for (let round = 0; round < 4; round++) {
      const { status, headers, bytes } = await send({
        method: 'GET',
        target: base + path,
      })
      const { date: _date, ...others } = headers
      responses.push({ status, headers: others, text: bytes.toString('latin1') })
    }
    const [first] = responses
    expect(first).toMatchObject({ status: 200 })
    expect(responses).toEqual([first, first, first, first])
    expect(service.statistics().cache?.hits).toBe(before + 2)
  }
})
