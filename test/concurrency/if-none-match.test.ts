import { describe, expect, onTestFinished, test } from 'vitest'
import { base } from '../contract/contract.ts'
import { bindings } from '../kit/cells.ts'
import { visitor } from '../kit/visitors.ts'
import { collections, everywhere, openDesk, replyOf, type Reply, type Sent } from './desk.ts'

const [memory] = everywhere as [(typeof everywhere)[number]]
const note = { id: 1, title: 'Tea' }
const known = (tag: string | undefined) => ({ 'if-none-match': tag ?? 'none' })

describe.each(everywhere)('on $name', (on) => {
  test.each(['/notes/1', '/notes', '/notes?$limit=5&$count=true'])(
    'a read of what the client has responds 304 until it changes: %s',
    async (path) => {
      const { get, post, service } = openDesk(on)
      await post('/notes', note)
      const hits = () => service.statistics().cache?.hits ?? 0
      const first = await get(path)
      // The later ones come from the response cache.
      for (let round = 0; round < 4; round++) {
        const reply = await get(path, known(first.etag))
        expect([reply.status, reply.text]).toEqual([304, ''])
        const { 'Content-Type': _type, ...headers } = first.headers
        expect(reply.headers).toEqual(headers)
        expect(await get(path)).toEqual(first)
      }
      // Others need a moment until they know their version.
      if (on.isRemote !== true) expect(hits()).toBeGreaterThan(4)
      await post('/notes/1', { title: 'Milk' })
      const changed = await get(path, known(first.etag))
      expect(changed.status).toBe(200)
      expect(changed.etag).not.toBe(first.etag)
      expect((await get(path, known(changed.etag))).status).toBe(304)
    },
  )
})

describe('If-None-Match', () => {
  test('is compared weakly, may list tags, and is ignored if it is malformed', async () => {
    const { get, post } = openDesk(memory)
    const { etag = '' } = await post('/notes', note)
    for (const value of [etag, `W/${etag}`, `"a", W/${etag}`, `,${etag},`, '*'])
      expect([value, (await get('/notes/1', known(value))).status]).toEqual([value, 304])
    const bare = etag.replaceAll('"', '')
    for (const value of ['', '"', bare, '"a"', `"a${etag}`, '"a" '.repeat(9_000)])
      expect([value, (await get('/notes/1', known(value))).status]).toEqual([value, 200])
  })

  test('does not hide errors: a right, an item, a parameter', async () => {
    const { get, post } = openDesk(memory)
    await post('/notes', { ...note, owner: 'paul' }, visitor('carl', { roles: 'Chief' }))
    expect((await get('/notes/1', known('*'))).status).toBe(404)
    expect((await get('/notes/2', known('*'))).status).toBe(404)
    expect((await get('/notes?nope=1', known('*'))).status).toBe(400)
    expect((await get('/notes', { ...known('*'), accept: 'text/html' })).status).toBe(406)
  })

  test('is ignored by writes', async () => {
    const { post, remove } = openDesk(memory)
    const { etag } = await post('/notes', note, known('*'))
    expect((await post('/notes/1', { title: 'x' }, known(etag))).status).toBe(200)
    expect((await remove('/notes/1', known('*'))).status).toBe(200)
  })

  test('is no reason to support HEAD', async () => {
    const { service, post } = openDesk(memory)
    const { etag } = await post('/notes', note)
    const reply = await service.handle({
      method: 'HEAD',
      target: `${base}/notes/1`,
      header: (name) => ({ 'x-user': 'maria', 'if-none-match': etag })[name],
      secure: false,
      peer: undefined,
      signal: undefined,
      body: () => Promise.resolve(new Uint8Array()),
    })
    expect(reply.status).toBe(405)
  })
})

/** What a client sends one after another, and tags in it that are those of the response before. */
const conversation: readonly Sent[] = [
  { method: 'POST', path: '/strict', body: note },
  { method: 'GET', path: '/strict/1' },
  { method: 'GET', path: '/strict/1', headers: { 'if-none-match': 'LAST' } },
  { method: 'GET', path: '/strict/1', headers: { 'if-none-match': '*' } },
  { method: 'GET', path: '/strict?$count=true' },
  { method: 'GET', path: '/strict?$count=true', headers: { 'if-none-match': 'LAST' } },
  { method: 'GET', path: '/strict', headers: { 'if-none-match': '"a"' } },
  { method: 'POST', path: '/strict/1', body: { title: 'x' } },
  { method: 'POST', path: '/strict/1', body: { title: 'x' }, headers: { 'if-match': 'W/"a"' } },
  { method: 'POST', path: '/strict/1', body: { title: 'x' }, headers: { 'if-match': '"a"' } },
  { method: 'GET', path: '/strict/1' },
  { method: 'POST', path: '/strict/1', body: { title: 'é' }, headers: { 'if-match': 'LAST' } },
  { method: 'DELETE', path: '/strict/1', headers: { 'if-match': '"a"' } },
  { method: 'POST', path: '/plain', body: note },
  { method: 'GET', path: '/plain/1' },
  { method: 'GET', path: '/plain/1', headers: { 'if-none-match': '*' } },
]

const statuses = [200, 200, 304, 304, 200, 304, 200, 428, 400, 412, 200, 200, 412, 200, 200, 200]

/** Returns the responses of a server, without the headers that belong to its connections. */
async function converse(start: (typeof bindings)[number]['start']): Promise<readonly Reply[]> {
  const { service } = openDesk(memory, collections)
  const { port, close } = await start(service)
  onTestFinished(close)
  const replies: Reply[] = []
  let last = ''
  for (const { method, path, body, headers = {} } of conversation) {
    const own = Object.entries(headers).map(([name, value]) => [name, value.replace('LAST', last)])
    const response = await fetch(`http://127.0.0.1:${port}${base}${path}`, {
      method,
      headers: {
        'x-user': 'maria',
        'content-type': 'application/json',
        ...(Object.fromEntries(own) as Record<string, string>),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const { date: _date, ...all } = Object.fromEntries(response.headers)
    const { connection: _connection, 'keep-alive': _alive, ...shown } = all
    last = shown['etag'] ?? last
    replies.push(replyOf(response.status, shown, await response.text()))
  }
  return replies
}

test.each(bindings)('$name sends the tags of the service, and no others', async ({ start }) => {
  const replies = await converse(start)
  expect(replies.map(({ status }) => status)).toEqual(statuses)
  // Express adds weak tags of its own.
  for (const { etag = '""' } of replies) expect(etag).toMatch(/^"[^"]*"$/)
  expect(replies.flatMap(({ etag }) => etag ?? [])).toHaveLength(9)
  expect(replies).toEqual(await converse((bindings[0] as (typeof bindings)[number]).start))
})
