import { afterAll, describe, expect, test } from 'vitest'
import {
  connection,
  endpoint,
  readElements,
  readStream,
  type LargeNumbers,
} from '../../src/entries/consume.ts'
import { rejection } from './calls.ts'
import { startServer } from './server.ts'

let text = ''
const server = await startServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(text)
})
afterAll(() => server.close())

function getWith(own?: LargeNumbers, ofConnection?: LargeNumbers) {
  const to = connection({
    baseUrl: server.url,
    allowHttp: true,
    allowPrivateAddresses: true,
    largeNumbers: ofConnection,
  })
  return endpoint(to, { name: 'get', path: '/', largeNumbers: own })
}

test.each([
  [undefined, 'string', ['12345678901234567890']],
  ['string', 'reject', ['12345678901234567890']],
  ['string', undefined, ['12345678901234567890']],
] as const)(
  'largeNumbers %s of an endpoint replaces %s of its connection',
  async (own, ofConnection, expected) => {
    text = '[12345678901234567890]'
    expect((await getWith(own, ofConnection).call({})).body).toEqual(expected)
  },
)

test('reject of an endpoint replaces string of its connection', async () => {
  text = '[12345678901234567890]'
  const error = await rejection(getWith('reject', 'string').call({}))
  expect(error).toMatchObject({ code: 'INVALID_JSON' })
})

describe('the error names the place of the number and the option', () => {
  test.each([
    ['[1, {"a": [1, "]", {"id": 12345678901234567890}]}]', '/1/a/2/id'],
    ['{"a": {"b": "x", "c": {}}, "@odata.count": 9007199254740993}', '/@odata.count'],
    ['{"a\\u0062": [[], [1, 1e999]]}', '/ab/1/1'],
    ['{"a{[": 1, "maria@example.com": {"n": 1e999}}', '/*/n'],
    [`{"${'x'.repeat(65)}": 1e999}`, '/*'],
  ])('%s', async (json, place) => {
    text = json
    const error = await rejection(getWith().call({}))
    expect(error.message).toBe(
      `The call of get failed: the value at ${place} is a number that a double cannot hold; set largeNumbers to 'string' or 'exact' in the endpoint or the connection.`,
    )
  })

  test('for a response that is the number', async () => {
    text = ' 1e999 '
    const error = await rejection(getWith('exact').call({}))
    expect(error.message).toContain(
      "it is a number that a double cannot hold; set largeNumbers to 'string' in",
    )
  })

  test('but text that is not JSON is called that', async () => {
    text = '[12345678901234567890'
    const error = await rejection(getWith().call({}))
    expect(error.message).toContain('invalid JSON')
  })
})

test('elements of a stream have large numbers as strings if the option says so', async () => {
  text = '[{"id": 12345678901234567890}]'
  const read = (largeNumbers?: LargeNumbers) =>
    readStream(getWith(), {}, async ({ body }) => {
      const found = []
      for await (const element of readElements(body, {
        items: null,
        ...(largeNumbers !== undefined && { largeNumbers }),
      }))
        found.push(element)
      return found
    })
  expect(await read('string')).toEqual([{ id: '12345678901234567890' }])
  await expect(read()).rejects.toThrow(/An element of the response: the value at \/id is a number/)
})
