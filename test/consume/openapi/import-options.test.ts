import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { importOpenApi } from '../../../src/consume/openapi/import-openapi.ts'
import { connection, jsonSchemas, type Endpoint } from '../../../src/entries/consume.ts'
import { rejection } from '../calls.ts'
import { writeFiles } from './generated.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-options-'))
const path = join(folder, 'document.json')
const account = {
  type: 'object',
  required: ['id', 'balance'],
  properties: { id: { type: 'integer', format: 'int64' }, balance: { type: 'number' } },
}
writeFileSync(
  path,
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Bank', version: '1' },
    paths: {
      '/account': {
        get: {
          operationId: 'getAccount',
          // The text of an import must not be taken for one that is used.
          summary: 'Returns typed<FilePart> and JsonNumber.',
          responses: {
            200: { description: 'OK.', content: { 'application/json': { schema: account } } },
          },
        },
      },
      '/ping': { get: { summary: 'typed<', responses: { 200: { description: 'OK.' } } } },
    },
  }),
)
const options = {
  plain: {},
  string: { largeNumbers: 'string', check: true },
  exact: { largeNumbers: 'exact', check: true },
} as const
const texts = Object.fromEntries(
  await Promise.all(
    Object.entries(options).map(
      async ([name, given]) => [name, (await importOpenApi(path, given)).text] as const,
    ),
  ),
)
const pings = {
  openapi: '3.1.0',
  info: { title: 'a', version: '1' },
  paths: { '/a': { post: { summary: 'typed<', responses: {} } } },
}
writeFileSync(join(folder, 'pings.json'), JSON.stringify(pings))
texts['pings'] = (await importOpenApi(join(folder, 'pings.json'))).text
const files = writeFiles(texts)
afterAll(() => {
  files.remove()
  rmSync(folder, { recursive: true, force: true })
})

test('a file imports what it uses, and compiles', { timeout: 60_000 }, () => {
  expect(files.check()).toEqual([])
  expect(texts['pings']).toContain("import { endpoint, type Connection } from 'rowgate/consume'")
  expect(texts['plain']).toContain(
    "import { endpoint, typed, type Connection } from 'rowgate/consume'",
  )
  expect(texts['plain']).not.toContain("from 'rowgate'\n")
  expect(texts['plain']).not.toContain('largeNumbers')
})

test('the largeNumbers of an import are in each endpoint and in the types of int64', () => {
  expect(texts['string']).toContain('id: number | string\n')
  expect(texts['string']?.match(/largeNumbers: 'string',/g)).toHaveLength(2)
  expect(texts['exact']).toContain("import { type JsonNumber } from 'rowgate'\n")
  expect(texts['exact']).toContain('id: number | JsonNumber\n')
})

test.each([
  ['string', '{"id":12345678901234567890,"balance":1.5}', '12345678901234567890'],
  ['exact', '{"id":12345678901234567890,"balance":0.10}', '12345678901234567890'],
])('a checked response may have large numbers as %s', async (name, body, id) => {
  const answer = { body }
  const to = connection({
    baseUrl: 'https://bank.example.com',
    fetch: async () =>
      new Response(answer.body, { headers: { 'content-type': 'application/json' } }),
  })
  const get = (await files.load(name)).endpoints(to)['getAccount'] as Endpoint<
    object,
    { id: unknown }
  >
  expect(String((await get.call({})).body.id)).toBe(id)
  answer.body = '{"id":1,"balance":"1.5"}'
  expect((await rejection(get.call({}))).message).toMatch(/ at \/balance \(type\)\.$/)
})

test('definitions may refer to each other, and are compiled when a schema needs them', async () => {
  const node = { $ref: 'rowgate:definitions#/$defs/Node' }
  const schemas = jsonSchemas({
    Node: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, next: node },
    },
    Broken: { $ref: 'rowgate:definitions#/$defs/Missing' },
  })
  const { validate } = schemas<object>({ type: 'array', items: node })['~standard']
  expect(await validate([{ name: 'a', next: { name: 'b' } }])).toMatchObject({
    value: [{ name: 'a' }],
  })
  expect(await validate([{ name: 'a', next: { nam: 'b' } }])).toEqual({
    issues: [{ message: 'required', path: ['0', 'next', 'name'] }],
  })
  await expect(async () =>
    schemas({ $ref: 'rowgate:definitions#/$defs/Broken' })['~standard'].validate(1),
  ).rejects.toThrow('the JSON Schema is invalid')
  await expect(async () =>
    jsonSchemas({ Node: { type: 'nothing' } })({})['~standard'].validate(1),
  ).rejects.toThrow('a definition is not a JSON Schema')
})
