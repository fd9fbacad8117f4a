import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOf } from '../kit/folder.ts'
import { openCommandLine } from './command-line.ts'

/** Runs the command on a file with this text. */
function run(text: string | Uint8Array, ...line: readonly string[]) {
  const workingFolder = folderOf()
  writeFileSync(join(workingFolder, 'a.json'), text)
  const words = ['consume', 'tables', 'a.json', ...line]
  return openCommandLine().run(words, { workingFolder })
}

const response = {
  id: 'S1',
  parcels: [
    { no: 1, tags: [] },
    { no: null, weight: 2.5 },
  ],
  hourly: { time: ['00', '01'], rain: [0, 1] },
}

test('prints the tables, columns and types of a response', async () => {
  const { code, output } = await run(JSON.stringify(response), '--zip', 'hourly')
  expect({ code, output }).toEqual({
    code: 0,
    output: `(root): 1 row
  id  string

parcels: 2 rows
  no      null | number
  tags    array, not in every row
  weight  number, not in every row

hourly: 2 rows
  time  string
  rain  number
`,
  })
})

test('reads a file with a byte order mark, as a call reads a response', async () => {
  const { code, output } = await run('\uFEFF{"a":1}')
  expect({ code, output }).toEqual({ code: 0, output: '(root): 1 row\n  a  number\n' })
})

test('prints JSON for programs', async () => {
  const { output } = await run('[{"a":1}]', '--json')
  expect(JSON.parse(output)).toEqual([
    { path: null, rows: 1, columns: [{ name: 'a', types: ['number'], inEveryRow: true }] },
  ])
})

test.each([
  ['text that is not JSON', '{', [], 'a.json is not JSON: see line 1.'],
  ['several values', '{"a":1}\n{"a":2}\n', [], 'a.json is not JSON: see line 2.'],
  ['an empty file', '', [], 'a.json is not JSON.'],
  ['bytes that are not UTF-8', Buffer.from('{"a":1}', 'utf16le').swap16(), [], 'is not JSON'],
  ['a text in Latin-1', Buffer.from('{"a":"\xe9"}', 'latin1'), [], 'is not JSON in UTF-8.'],
  ['arrays of different lengths', '{"a":{"b":[1],"c":[]}}', ['--zip', 'a'], 'a/b has 1, a/c has 0'],
])('rejects %s', async (_what, text, line, message) => {
  const { code, messages } = await run(text, ...line)
  expect(code).toBe(1)
  expect(messages).toContain(message)
})

const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  paths: {
    '/orders': {
      get: {
        operationId: 'listOrders',
        responses: {
          200: {
            description: 'A page of orders.',
            content: {
              'application/json': {
                schema: { type: 'array', items: { $ref: '#/components/schemas/Order' } },
              },
            },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Order: {
        type: 'object',
        required: ['id', 'lines'],
        properties: {
          id: { type: 'string' },
          note: { type: ['string', 'null'] },
          lines: {
            type: 'array',
            items: { type: 'object', properties: { sku: { type: 'string' } } },
          },
        },
      },
    },
  },
})

test('prints the tables of an endpoint of an OpenAPI document', async () => {
  const { code, output } = await run(document, '--endpoint', 'listOrders')
  expect({ code, output }).toEqual({
    code: 0,
    output: `(root)
  id    string
  note  null | string, not in every row

lines
  sku  string, not in every row
`,
  })
})

test('suggests the name of an endpoint that the document does not have', async () => {
  const { code, messages } = await run(document, '--endpoint', 'listOrder')
  expect(code).toBe(1)
  expect(messages).toContain('has no endpoint listOrder; did you mean listOrders?')
  expect(messages).toMatch(/The tables of listOrder cannot be read from the document\.\n$/)
})

test('rejects a response that is an alternative of itself, as import does', async () => {
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const cyclic = JSON.parse(document) as { components: { schemas: object } }
  cyclic.components.schemas = {
    Order: { anyOf: [reference('Item'), { type: 'string' }] },
    Item: { anyOf: [reference('Order'), { type: 'number' }] },
  }
  const { code, messages } = await run(JSON.stringify(cyclic), '--endpoint', 'listOrders')
  expect(code).toBe(1)
  expect(messages).toContain('#/components/schemas/Order: is an alternative of itself')
})

test('prints the columns of alternatives between which a property decides', async () => {
  const shop = JSON.parse(document) as { components: { schemas: object } }
  const paymentOf = (value: object) => ({
    type: 'object',
    required: ['kind', 'value'],
    properties: { kind: { type: 'string' }, value },
  })
  shop.components.schemas = {
    Order: {
      oneOf: ['Card', 'Bank'].map((name) => ({ $ref: `#/components/schemas/${name}` })),
      discriminator: { propertyName: 'kind' },
    },
    Card: paymentOf({ type: 'string' }),
    Bank: paymentOf({ type: 'number' }),
  }
  const { output } = await run(JSON.stringify(shop), '--endpoint', 'listOrders')
  expect(output).toBe(`(root)
  kind   string, not in every row
  value  number | string, not in every row
`)
})
