import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { importOpenApi } from '../../../src/consume/openapi/import-openapi.ts'
import { rejection } from '../calls.ts'
import { startServer } from '../server.ts'
import { writeFiles } from './generated.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-openapi-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

function fileOf(document: unknown): string {
  const file = join(folder, 'document.json')
  writeFileSync(file, typeof document === 'string' ? document : JSON.stringify(document))
  return file
}

/** A document with one operation, whose response has a schema. */
function documentOf(schema: unknown, schemas: object = {}, operation: object = {}): object {
  const content = { 'application/json': { schema } }
  return {
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    paths: { '/a': { get: { responses: { 200: { description: 'x', content } }, ...operation } } },
    components: { schemas },
  }
}

function typeIn(text: string): string | undefined {
  return /response: typed<(.*?)>\(\),\n/s.exec(text)?.[1]
}

describe('a document is rejected', () => {
  const self = { $ref: '#/components/schemas/A' }

  test.each([
    ['that is not there', undefined, /cannot be read/],
    ['that is not JSON or YAML', '{"a": ', /cannot be read/],
    ['of version 2', { swagger: '2.0' }, /#\/openapi: must be a version 3.0 or 3.1/],
    ['of version 3.2', { ...documentOf({}), openapi: '3.2.0' }, /must be a version/],
    ['without paths', { openapi: '3.0.0', info: {} }, /#\/paths: must be an object/],
    [
      'with a reference to a file',
      documentOf({ $ref: 'other.json#/X' }),
      /#\/paths\/~1a\/get\/responses\/200\/content\/application~1json\/schema\/\$ref: refers to another document/,
    ],
    [
      'with a reference to a value that is no object',
      documentOf({ $ref: '#/info/title' }),
      /schema\/\$ref: refers to a value that is not an object/,
    ],
    [
      'with a reference to nothing',
      documentOf({ $ref: '#/components/schemas/X' }),
      /schema\/\$ref: refers to nothing/,
    ],
    [
      'with a schema that is itself',
      documentOf(self, { A: self }),
      /#\/components\/schemas\/A: refers to nothing but itself/,
    ],
    [
      'with schemas that are each other',
      documentOf(self, {
        A: { oneOf: [{ $ref: '#/components/schemas/B' }] },
        B: { allOf: [self] },
      }),
      /nothing but itself/,
    ],
    [
      'with a schema that is an alternative of itself',
      documentOf(self, { A: { oneOf: [self, { type: 'string' }] } }),
      /#\/components\/schemas\/A: is an alternative of itself/,
    ],
  ])('%s', async (_what, document, message) => {
    const file = document === undefined ? join(folder, 'absent.json') : fileOf(document)
    const error = await rejection(importOpenApi(file))
    expect(error.name).toBe('OpenApiError')
    expect(error.message).toMatch(message)
  })

  test('with a URL as a reference, which is not requested', async () => {
    const server = await startServer((_request, response) => response.end('{}'))
    const error = await rejection(
      importOpenApi(fileOf(documentOf({ $ref: `${server.url}/x.json` }))),
    )
    expect(error.message).toMatch(/another document/)
    await rejection(importOpenApi(`${server.url}/x.json`))
    expect(server.received).toEqual([])
    await server.close()
  })
})

describe('a schema becomes a type', () => {
  const named = { A: { type: 'object', properties: { x: { type: 'string' } } } }
  const a = { $ref: '#/components/schemas/A' }

  test.each([
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'integer' }, 'number'],
    [{ enum: ['a', 1, null, true] }, "'a' | 1 | null | true"],
    [{ const: "it's" }, "'it\\'s'"],
    [{ type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
    [{ type: 'array', items: {} }, 'unknown[]'],
    [
      { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } },
      '[string?, ...number[]]',
    ],
    [
      { type: 'object', additionalProperties: { type: 'number' } },
      '{\n        [name: string]: number\n      }',
    ],
    [{ oneOf: [a, { type: 'null' }] }, 'A | null'],
    [{ allOf: [a, { oneOf: [{ type: 'string' }, { type: 'null' }] }] }, 'A & (string | null)'],
    [
      { type: 'array', items: { allOf: [a, { required: ['y'] }] } },
      '(A & {\n        y: unknown\n      })[]',
    ],
    [{ ...a, description: 'x' }, 'A'],
    [
      { type: 'object', properties: { 'a-b': true, b: { not: {} } }, required: ['a-b'] },
      "{\n        'a-b': unknown\n        b?: unknown\n      }",
    ],
  ])('%j', async (schema, type) => {
    const { text } = await importOpenApi(fileOf(documentOf(schema, named)))
    expect(typeIn(text)).toBe(type)
  })

  test('that is any value has no type', async () => {
    for (const schema of [{}, true, { oneOf: [{}, { type: 'string' }] }]) {
      const { text } = await importOpenApi(fileOf(documentOf(schema)))
      expect(typeIn(text)).toBeUndefined()
    }
  })

  test('even if it is recursive without a name, up to a bound', async () => {
    const place = '#/paths/~1a/get/responses/200/content/application~1json/schema'
    const schema = { type: 'object', properties: { next: { $ref: place } } }
    const { text } = await importOpenApi(fileOf(documentOf(schema)))
    expect(typeIn(text)?.match(/next\?:/g)).toHaveLength(9)
    expect(typeIn(text)).toContain('next?: unknown')
  })

  test('unless it is nested too deeply', async () => {
    let schema: object = { type: 'string' }
    for (let level = 0; level < 60; level++) schema = { type: 'array', items: schema }
    const error = await rejection(importOpenApi(fileOf(documentOf(schema))))
    expect(error.message).toMatch(/items\/items.*nested too deeply/)
  })

  test('if 22 schemas refer to the next one twice', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 22 }, (_, at) => {
        const next = { $ref: `#/components/schemas/S${at + 1}` }
        return [`S${at}`, at === 21 ? {} : { type: 'object', properties: { a: next, b: next } }]
      }),
    )
    const file = fileOf(documentOf({ $ref: '#/components/schemas/S0' }, schemas))
    const { text, notes } = await importOpenApi(file)
    expect(text.length).toBeLessThan(10_000)
    expect(notes).toEqual([])
    expect((await importOpenApi(file, { isStrict: true })).notes).toEqual([
      '#: not validated, its references lead to more than 2000000 objects',
    ])
  })
})

test(
  'strings of a document cannot leave their place in the file',
  { timeout: 60_000 },
  async () => {
    const evil = "*/ ' \\ ` ${x} \u2028 \n // </script>"
    const schema = {
      type: 'object',
      description: evil,
      properties: { [evil]: { const: evil, description: evil }, constructor: { type: 'string' } },
    }
    const document = documentOf(
      { $ref: '#/components/schemas/Connection' },
      { Connection: schema, connection: schema },
      {
        operationId: evil,
        summary: evil,
        parameters: [{ name: evil, in: 'query', schema: { enum: [evil] } }],
      },
    )
    const { text } = await importOpenApi(
      fileOf({
        ...document,
        info: { title: evil, version: evil },
        servers: [{ url: `https://a.example/${evil}` }],
      }),
    )
    const files = writeFiles({ evil: text })
    expect(files.check()).toEqual([])
    const { endpoints } = await files.load('evil')
    const [endpoint] = Object.values(endpoints({} as never))
    expect(Object.keys(endpoint?.query ?? {})).toEqual([evil])
    files.remove()
  },
)

test('a document without endpoints is a file that compiles', { timeout: 60_000 }, async () => {
  const { text, count } = await importOpenApi(fileOf({ ...documentOf({}), paths: {} }))
  expect(count).toBe(0)
  const files = writeFiles({ none: text })
  expect(files.check()).toEqual([])
  files.remove()
})
