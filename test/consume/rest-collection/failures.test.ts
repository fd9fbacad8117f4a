import type { ServerResponse } from 'node:http'
import { beforeEach, expect, test } from 'vitest'
import { restCollection } from '../../../src/entries/consume.ts'
import { defineCollection, integer } from '../../../src/entries/index.ts'
import { openStage } from '../../kit/stage.ts'
import { respond } from '../server.ts'
import { data, endpointsOf, pagings, startTracker, type Tracker } from './tracker.ts'

let tracker: Tracker
beforeEach(async () => {
  tracker = await startTracker()
})

function open(paging = pagings[0], timeout = 10_000) {
  const { list, get, insert } = endpointsOf(tracker, { timeout })
  const serve = restCollection(data, {
    list: { endpoint: list, items: 'data', total: 'meta/total', paging },
    get: { endpoint: get },
    insert: { endpoint: insert },
  })
  return openStage({ issues: defineCollection(data, { serve }) })
}

const issue = { number: 1, title: 's3cret', state: 'open', rank: null, author: null }
const hangs = 'a service that hangs'
const timeoutOf = (what: string): number => (what === hangs ? 300 : 10_000)
const answers: readonly (readonly [
  what: string,
  answer: (response: ServerResponse) => void,
  report: RegExp,
])[] = [
  [
    'an unauthorized request',
    (response) => {
      respond(response, { error: 's3cret' }, 401)
    },
    /responded 401/,
  ],
  [
    'a forbidden request',
    (response) => {
      respond(response, { error: 's3cret' }, 403)
    },
    /responded 403/,
  ],
  [
    'a failure',
    (response) => {
      respond(response, { error: 's3cret' }, 500)
    },
    /responded 500/,
  ],
  [
    'a redirect',
    (response) => {
      response.writeHead(302, { location: 'https://s3cret.example' }).end()
    },
    /redirect/,
  ],
  [hangs, () => undefined, /in time/],
  [
    'a service that hangs up',
    (response) => {
      response.destroy()
    },
    /connection failed/,
  ],
  [
    'a body that ends early',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
      response.write('{"s3cret')
      setTimeout(() => response.destroy(), 20)
    },
    /connection failed/,
  ],
  [
    'invalid JSON',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('s3cret')
    },
    /invalid JSON/,
  ],
  [
    'HTML',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>s3cret')
    },
    /not JSON/,
  ],
  [
    'an item of a wrong type',
    (response) => {
      respond(response, { data: ['s3cret'], ...issue, rank: 's3cret' })
    },
    /not an object|does not fit/,
  ],
  [
    'an item without key',
    (response) => {
      respond(response, { data: [{ ...issue, number: null }], title: 'x' })
    },
    /value of number/,
  ],
  [
    'a value that does not fit its field',
    (response) => {
      respond(response, { data: [{ ...issue, rank: 's3cret' }], ...issue, rank: 's3cret' })
    },
    /value of rank/,
  ],
]

test.each(answers)('%s responds 503 to reads, and is reported', async (what, answer, report) => {
  tracker.instead = (_request, response) => {
    answer(response)
    return true
  }
  const { client, reports } = open(pagings[0], timeoutOf(what))
  for (const path of ['/app/issues', '/app/issues/1', '/app/issues?$sort=title&$count=true']) {
    const { status, body, headers } = await client.get(path)
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    expect(body.message).toBe('The service is not available at the moment. Try again later.')
    expect(JSON.stringify(body)).not.toContain('s3cret')
    const [found] = reports.slice(-1)
    expect(found).toMatchObject({ type: 'storage-unavailable' })
    const { error } = found as { readonly error: Error }
    expect(error.message).toMatch(report)
    expect(error.message).toMatch(/^The call of (list-issues|get-issue) failed/)
    expect(error.message).not.toContain('s3cret')
  }
})

test.each(answers.filter(([what]) => what !== 'an item of a wrong type'))(
  '%s responds 503 to an insert',
  async (what, answer) => {
    tracker.instead = (_request, response) => {
      answer(response)
      return true
    }
    const { client, reports } = open(pagings[0], timeoutOf(what))
    const { status, body } = await client.post('/app/issues', { title: 'x' })
    expect(status).toBe(503)
    expect(JSON.stringify(body)).not.toContain('s3cret')
    expect(reports).toHaveLength(1)
  },
)

test.each([
  [429, '7', '7'],
  [503, '100000', '60'],
  [500, '7', '1'],
])('the status %i with Retry-After %s is passed on as %s', async (status, sent, expected) => {
  tracker.instead = (_request, response) => {
    respond(response, {}, status, { 'retry-after': sent })
    return true
  }
  const reply = await open().client.get('/app/issues/1')
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, expected])
})

test('a read that the other service rejects is a mistake of the mapping: 500 and a report', async () => {
  tracker.instead = (_request, response) => {
    respond(response, { error: 's3cret' }, 422)
    return true
  }
  const { client, reports } = open()
  const { status, body } = await client.get('/app/issues')
  expect([status, reports.length]).toEqual([500, 1])
  expect(JSON.stringify(body)).not.toContain('s3cret')
})

test('a request that is too long for the other service responds 414', async () => {
  tracker.instead = (_request, response) => {
    respond(response, {}, 414)
    return true
  }
  expect((await open().client.get('/app/issues')).status).toBe(414)
})

test.each(pagings.map((paging) => [paging.kind, paging] as const))(
  'pages by %s that repeat respond 503',
  async (_kind, paging) => {
    let calls = 0
    tracker.instead = (_request, response) => {
      calls++
      const link = { link: '</issues?after=1>; rel="next"' }
      respond(response, { data: [issue], meta: { total: 9, next: 5 } }, 200, link)
      return true
    }
    const { list } = endpointsOf(tracker)
    const size = { parameter: 'limit', maximum: 1 }
    const serve = restCollection(data, {
      list: { endpoint: list, items: 'data', paging, pageSize: size },
    })
    const { client, reports } = openStage({ issues: defineCollection(data, { serve }) })
    expect((await client.get('/app/issues?$sort=title')).status).toBe(503)
    expect(calls).toBeLessThan(4)
    expect(reports).toMatchObject([
      { error: { message: expect.stringMatching(/repeated/) as string } },
    ])
  },
)

test('a link to another origin is not followed', async () => {
  tracker.instead = (_request, response) => {
    respond(response, { data: [issue] }, 200, { link: '<https://s3cret.example/>; rel="next"' })
    return true
  }
  const { client, reports } = open(pagings[3])
  expect((await client.get('/app/issues?$sort=title')).status).toBe(503)
  expect(JSON.stringify(reports)).not.toContain('s3cret')
})

test('the time limit of an event ends its call', async () => {
  const closed = new Promise<void>((resolve) => {
    tracker.instead = (_request, response) => {
      response.on('close', resolve)
      return true
    }
  })
  const { list } = endpointsOf(tracker)
  const serve = restCollection(data, { list: { endpoint: list, items: 'data' }, timeout: 100 })
  const { client } = openStage({ issues: defineCollection(data, { serve }) })
  expect((await client.get('/app/issues')).status).toBe(500)
  await closed
})

test('a read in a write transaction makes no call: 500 and a report', async () => {
  const { get } = endpointsOf(tracker)
  const issues = defineCollection(data, { serve: restCollection(data, { get: { endpoint: get } }) })
  const notes = defineCollection(
    { key: 'id', fields: { id: integer() } },
    {
      events: {
        Insert: {
          before: async ({ collection }) => {
            await collection(issues).get(1)
          },
        },
      },
    },
  )
  const { client, reports } = openStage({ issues, notes })
  expect((await client.post('/app/notes', { id: 1 })).status).toBe(500)
  expect(reports).toMatchObject([{ error: { code: 'IN_TRANSACTION' } }])
  expect(tracker.received).toEqual([])
  expect((await client.get('/app/notes')).body.items).toEqual([])
})
