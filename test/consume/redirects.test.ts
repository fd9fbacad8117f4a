import { afterAll, describe, expect, test } from 'vitest'
import { connection, endpoint } from '../../src/entries/consume.ts'
import { rejection } from './calls.ts'
import { respond, startServer } from './server.ts'

const other = await startServer((_request, response) => {
  respond(response, 'other')
})
const server = await startServer((request, response) => {
  const redirect = (location: string, status = 302): void => {
    response.writeHead(status, { location }).end()
  }
  const [, name = '', left = '0'] = (request.url ?? '').split('/')
  if (name === 'here') respond(response, request.headers['x-api-key'] ?? null)
  else if (name === 'same') redirect('/here', 307)
  else if (name === 'other') redirect(other.url)
  else if (name === 'name') redirect(server.url.replace('127.0.0.1', 'localhost') + '/here')
  else if (name === 'credentials') redirect(server.url.replace('//', '//u:p@') + '/here')
  else if (name === 'loop') redirect('/loop')
  else if (name === 'chain') redirect(left === '1' ? '/here' : `/chain/${Number(left) - 1}`)
  else response.writeHead(302).end()
})
afterAll(() => Promise.all([server.close(), other.close()]))

const to = connection({
  baseUrl: server.url,
  allowHttp: true,
  allowPrivateAddresses: true,
  authentication: { kind: 'apiKey', header: 'x-api-key', key: 'secret' },
})

function get(path: string): Promise<{ readonly body: unknown }> {
  return endpoint(to, { name: 'get', path }).call({})
}

test('a redirect within the origin is followed, with the credentials', async () => {
  expect((await get('/same')).body).toBe('secret')
})

test('five redirects are followed', async () => {
  expect((await get('/chain/5')).body).toBe('secret')
})

describe('a redirect is not followed', () => {
  test.each([
    ['to another host', '/other'],
    ['to another name of the host', '/name'],
    ['to a URL with credentials', '/credentials'],
    ['that leads to itself', '/loop'],
    ['after five redirects', '/chain/6'],
    ['without a location', '/nowhere'],
  ])('%s', async (_what, path) => {
    const error = await rejection(get(path))
    expect(error).toMatchObject({ code: 'REDIRECT', status: 302 })
    expect(other.received).toEqual([])
  })

  test('of a request with an effect', async () => {
    const post = endpoint(to, { name: 'post', method: 'POST', path: '/same' })
    expect(await rejection(post.call({}))).toMatchObject({ code: 'REDIRECT', status: 307 })
  })
})
