import { Agent } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  system,
  text,
  type Service,
} from '../../src/entries/index.ts'
import { send, type Answer } from '../kit/http-client.ts'
import { cells, type Host } from '../kit/cells.ts'
import { visitor, visitors } from '../kit/visitors.ts'

const fields = {
  id: integer(),
  region: text(),
  secret: text({ readableBy: ['Chief'], writableBy: ['Chief'], default: 'hush' }),
} as const
const rows = { equal: { region: { attribute: 'region' } }, exceptRoles: ['Chief'] } as const
const notes = defineCollection({ key: 'id', fields, rows, eventRoles: { Insert: ['Writer'] } })
const applications = { app: { roles: ['Staff'], collections: { notes } } } as const

const nora = visitor('nora', { roles: 'Staff', region: 'north' })
const chief = visitor('chris', { roles: 'Staff,Chief' })

describe.each(cells)('rights behind a socket on $name', ({ binding, storage }) => {
  const agent = new Agent({ keepAlive: true })
  const { storage: adapter, remove } = storage.open()
  let service: Service<typeof applications>
  let host: Host
  const ask = (
    who: Readonly<Record<string, string>>,
    method: string,
    path: string,
    body?: string,
  ) =>
    send(host.port, agent, {
      method,
      target: `/rest/v1/app${path}`,
      headers: { 'Content-Type': 'application/json', ...who },
      ...(body !== undefined && { body }),
    })

  beforeAll(async () => {
    service = createService({
      applications,
      storage: adapter,
      security: visitors,
      bodyLimit: 100,
    })
    const all = service.as(system).collection('app', 'notes')
    await all.insert({ id: 1, region: 'north' })
    await all.insert({ id: 2, region: 'south' })
    host = await binding.start(service)
  })
  afterAll(async () => {
    agent.destroy()
    await host.close()
    await service.close()
    await remove()
  })

  test('roles, field rights and row rules apply over HTTP', async () => {
    expect((await ask(nora, 'GET', '/notes')).body.items).toEqual([{ id: 1, region: 'north' }])
    expect((await ask(chief, 'GET', '/notes')).body.items).toEqual([
      { id: 1, region: 'north', secret: 'hush' },
      { id: 2, region: 'south', secret: 'hush' },
    ])
    expect((await ask(nora, 'GET', '/notes?secret=hush')).status).toBe(400)
    const same = ({ status, headers, text: body }: Answer) => {
      const { date: _date, ...rest } = headers
      return [status, rest, body]
    }
    for (const method of ['GET', 'POST', 'DELETE']) {
      const body = method === 'POST' ? '{"region":"north"}' : undefined
      const foreign = await ask(nora, method, '/notes/2', body)
      expect(foreign.status).toBe(404)
      expect(same(foreign)).toEqual(same(await ask(nora, method, '/notes/99', body)))
    }
  })

  test('the right is checked before Accept, media type and size', async () => {
    const rejected = [
      await ask(visitor('v'), 'GET', '/notes'),
      await ask({ ...visitor('v'), Accept: 'text/html' }, 'GET', '/notes/1'),
      await ask(nora, 'POST', '/notes', '{"id":3}'),
      await ask({ ...nora, 'Content-Type': 'text/plain' }, 'POST', '/notes', 'x'),
      await ask(nora, 'POST', '/notes', `{"region":"${'x'.repeat(1000)}"}`),
      await ask(nora, 'POST', '/notes?nope=1', '{'),
    ]
    for (const { status, text: body } of rejected) {
      expect(status).toBe(403)
      expect(body).toBe(rejected[0]?.text)
    }
    expect((await ask(chief, 'GET', '/notes')).body.items).toHaveLength(2)
  })
})
