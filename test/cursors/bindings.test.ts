import { Agent } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  system,
  text,
} from '../../src/entries/index.ts'
import { cells } from '../kit/cells.ts'
import { send } from '../kit/http-client.ts'

const notes = defineCollection({
  key: 'id',
  cursor: true,
  fields: { id: integer(), title: text(), size: integer() },
})
const rows = Array.from({ length: 11 }, (_, at) => ({
  id: at,
  title: ['ä', null, '😀', ''][at % 4] as string | null,
  size: at % 3 === 0 ? null : at % 2,
}))

/** The responses of the first cell. */
let expected: unknown

test.each(cells)('$name: cursors and pages are the same, byte for byte', async (cell) => {
  const { storage, remove } = cell.storage.open()
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage,
    security: openAccess(),
  })
  await service.as(system).collection('app', 'notes').insertMany(rows)
  const host = await cell.binding.start(service)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(async () => {
    agent.destroy()
    await host.close()
    await service.close()
    await remove()
  })
  const responses: unknown[] = []
  for (const query of [
    '$limit=4',
    '$sort=-title,size&$limit=3&$count=true',
    '$sort=size&$limit=2',
  ]) {
    for (let after: unknown = ''; after !== undefined;) {
      const target = `/rest/v1/app/notes?${query}${after === '' ? '' : `&$after=${String(after)}`}`
      const {
        status,
        headers,
        text: body,
      } = await send(host.port, agent, { method: 'GET', target })
      after = headers['x-svc-next-cursor']
      responses.push({ status, after, body })
    }
  }
  expect(responses).toHaveLength(3 + 4 + 6)
  expected ??= responses
  expect(responses).toEqual(expected)
})
