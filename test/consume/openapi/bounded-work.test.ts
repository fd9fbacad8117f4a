import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createWork, type DocumentObject } from '../../../src/consume/openapi/document.ts'
import { importOpenApi } from '../../../src/consume/openapi/import-openapi.ts'
import { ResponseSchemas } from '../../../src/consume/openapi/response-schemas.ts'
import { wholes } from '../../../src/consume/openapi/schema-whole.ts'
import { uniqueNames } from '../../../src/consume/openapi/typescript-text.ts'
import { rejection } from '../calls.ts'

// Before these bounds, each of these documents took minutes, or ended in an exhausted stack.

const folder = mkdtempSync(join(tmpdir(), 'rowgate-openapi-work-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

function fileOf(document: unknown): string {
  const file = join(folder, 'document.json')
  writeFileSync(file, JSON.stringify(document))
  return file
}

function documentOf(schema: unknown, components: object = {}, operation: object = {}): object {
  const content = { 'application/json': { schema } }
  return {
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    paths: { '/a': { get: { responses: { 200: { description: 'x', content } }, ...operation } } },
    components,
  }
}

const named = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const times = <Value>(count: number, create: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => create(at))

describe('a document is rejected', { timeout: 60_000 }, () => {
  const response = '#/paths/~1a/get/responses/200/content/application~1json/schema'

  test.each([
    // 0.6 KB: six to the power of nine types.
    ['whose response has itself in six properties', 6],
    ['whose response has itself in sixty properties', 60],
  ])('%s', async (_what, count) => {
    const properties = Object.fromEntries(times(count, (at) => [`p${at}`, { $ref: response }]))
    const error = await rejection(importOpenApi(fileOf(documentOf({ type: 'object', properties }))))
    expect(error.message).toMatch(
      /#: the document is too large: its (types have more than 50000000 characters|references lead to more than 2000000)/,
    )
  })

  test('whose parameters have more values than the limit together', async () => {
    const schema = { type: 'string', enum: times(5_000, (at) => `v${at}`) }
    const parameters = times(1_000, (at) => ({ name: `q${at}`, in: 'query', schema: named('E') }))
    const document = documentOf({}, { schemas: { E: schema } }, { parameters })
    const error = await rejection(importOpenApi(fileOf(document)))
    expect(error.message).toMatch(/its references lead to more than 2000000 schemas and values/)
  })

  const membersOf = (count: number, part = '') =>
    Object.fromEntries(times(count, (at) => [`p${part}_${at}`, true]))
  const closed = { type: 'object', additionalProperties: false }

  test.each([
    ['references to one closed schema with as many properties', times(300, () => named('Closed'))],
    [
      'closed parts with as many patterns each',
      times(200, (at) => ({ ...closed, patternProperties: membersOf(200, `${at}`) })),
    ],
    [
      'closed parts with as many properties each',
      times(200, (at) => ({ ...closed, properties: membersOf(200, `${at}`) })),
    ],
  ])('whose responses are checked, and have hundreds of %s', async (_what, allOf) => {
    const schemas = { Closed: { ...closed, properties: membersOf(300) } }
    const file = fileOf(documentOf({ allOf }, { schemas }))
    const error = await rejection(importOpenApi(file, { check: true }))
    expect(error.message).toMatch(/its references lead to more than 2000000 schemas and values/)
  })

  test('with more than a thousand levels', async () => {
    let schema: object = {}
    for (let level = 0; level < 1_000; level++) schema = { items: schema }
    const error = await rejection(importOpenApi(fileOf(documentOf(schema))))
    expect(error.message).toContain('#: the document has more than 1000 levels')
  })

  test('with the first hundred of many references to nothing, and with a long one', async () => {
    const many = times(5_000, (at) => named(`X${at}`))
    const error = await rejection(importOpenApi(fileOf(documentOf({ allOf: many }))))
    expect(error.message.match(/refers to nothing/g)).toHaveLength(100)
    const long = await rejection(importOpenApi(fileOf(documentOf(named('x'.repeat(2_000))))))
    expect(long.message).toContain('schema/$ref: has more than 2000 characters')
  })
})

describe('a document is imported', { timeout: 60_000 }, () => {
  const parameter = (schema: object) => ({ parameters: [{ name: 'q', in: 'query', schema }] })

  test('whose parameter has alternatives that double 40 times', async () => {
    const schemas = Object.fromEntries(
      times(40, (at) => {
        const next = named(`S${at + 1}`)
        return [`S${at}`, at === 39 ? { type: 'integer' } : { oneOf: [next, next] }]
      }),
    )
    const { text } = await importOpenApi(
      fileOf(documentOf({}, { schemas }, parameter(named('S0')))),
    )
    expect(text).toContain("q: 'integer'")
  })

  test('whose parameter is an alternative of itself, without that parameter', async () => {
    const schemas = { A: { oneOf: [named('B'), named('A')] }, B: { anyOf: [named('A')] } }
    const { text, notes } = await importOpenApi(
      fileOf(documentOf({}, { schemas }, parameter(named('A')))),
    )
    expect(text).not.toContain('query')
    expect(notes).toContainEqual(expect.stringContaining('the parameter q is neither a string'))
  })

  test('whose schemas are a chain of 5,000 names', async () => {
    const schemas = Object.fromEntries(
      times(5_000, (at) => [
        `S${at}`,
        at === 4_999
          ? { type: 'string' }
          : { type: 'object', properties: { n: named(`S${at + 1}`) } },
      ]),
    )
    const { text } = await importOpenApi(fileOf(documentOf(named('S0'), { schemas })))
    expect(text.match(/export type /g)).toHaveLength(5_000)
  })

  test('whose responses are checked by a chain of 5,000 names', async () => {
    const schemas = Object.fromEntries(
      times(5_000, (at) => [
        `S${at}`,
        at === 4_999 ? { type: 'string' } : { properties: { n: named(`S${at + 1}`) } },
      ]),
    )
    const file = fileOf(documentOf(named('S0'), { schemas }))
    const { text } = await importOpenApi(file, { check: true })
    expect(text.match(/\n {2}S\d+: /g)).toHaveLength(5_000)
  })

  test('whose alternatives allow no other properties and have twice as many parents at each level', async () => {
    const level = (at: number, properties: object) => ({
      ...{ type: 'object', properties, additionalProperties: false },
      ...(at < 40 && { oneOf: [named(`A${at + 1}`), named(`B${at + 1}`)] }),
    })
    const schemas = Object.fromEntries(
      ['A', 'B'].flatMap((name) =>
        times(40, (at) => [
          `${name}${at + 1}`,
          level(at + 1, { [`${name}${at}`]: { type: 'string' } }),
        ]),
      ),
    ) as object
    const file = fileOf(documentOf(named('A1'), { schemas }))
    const { text } = await importOpenApi(file, { check: true })
    // At most 17 definitions for each.
    expect(text.match(/\n {2}[AB]\d+: /g)?.length).toBeLessThan(80 * 17)
  })

  test('whose schemas are aliases of all others, in a chain', async () => {
    const schemas = Object.fromEntries(
      times(300, (at) => [
        `S${at}`,
        at === 299
          ? { type: 'string' }
          : { oneOf: times(299 - at, (more) => named(`S${at + 1 + more}`)) },
      ]),
    )
    const { text } = await importOpenApi(fileOf(documentOf(named('S0'), { schemas })))
    expect(text.match(/export type /g)).toHaveLength(300)
  })
})

test('equal names are counted on, not from the start', { timeout: 30_000 }, () => {
  const unique = uniqueNames(['a3'])
  expect(times(4, () => unique('a'))).toEqual(['a', 'a2', 'a4', 'a5'])
  expect(times(50_000, () => unique('b')).at(-1)).toBe('b50000')
})

describe('the steps of a check are at least', () => {
  const members = (count: number, prefix: string) =>
    Object.fromEntries(times(count, (at) => [`${prefix}${at}`, {}]))
  const noOthers = { additionalProperties: false }

  function stepsOf(schema: DocumentObject, schemas: object = {}): number {
    const { work, steps } = counted()
    new ResponseSchemas({ components: { schemas } }, { work }).schemaOf(schema)
    return steps()
  }

  test('the names and patterns of all parts for each part that is closed', () => {
    for (const key of ['properties', 'patternProperties']) {
      const allOf = times(10, (at) => ({ [key]: members(20, `m${at}_`), ...noOthers }))
      // Each is joined with the 9 others, and then has their members beside its own.
      expect(stepsOf({ allOf })).toBeGreaterThan(2 * 10 * 9 * 20)
    }
  })

  test('the names of a closed schema for each reference to it beside others', () => {
    const schemas = { Closed: { properties: members(20, 'm'), ...noOthers } }
    expect(stepsOf({ allOf: times(10, () => named('Closed')) }, schemas)).toBeGreaterThan(
      10 * 9 * 20,
    )
  })

  test('the names and patterns outside a part, equal ones too', () => {
    const { work, steps } = counted()
    const part = { properties: members(20, 'm'), patternProperties: members(30, 'n') }
    const allOf = times(10, () => ({ ...part }))
    const reader = wholes({}, work)
    for (const each of allOf) reader.of(each)
    const before = steps()
    reader.outside({ allOf }, allOf[0])
    expect(steps() - before).toBeGreaterThanOrEqual(9 * 50)
  })

  test('the parts of a part that lead to each other', () => {
    const { work, steps } = counted()
    const names = times(20, (at) => `S${at}`)
    const allOf = names.map(named)
    const schemas = Object.fromEntries(names.map((name) => [name, { allOf: [...allOf] }]))
    wholes({ components: { schemas } }, work).of({ allOf })
    expect(steps()).toBeGreaterThan(20 * 20)
  })

  test('the members that are required', () => {
    const required = times(50, (at) => `m${at}`)
    expect(stepsOf({ type: 'object', required })).toBeGreaterThan(2 * 50)
  })
})

function counted() {
  let total = 0
  const work = {
    steps: (count: number) => void (total += count),
    characters: () => undefined,
  }
  return { work, steps: () => total }
}

test('the work of an import ends at its limits', () => {
  const work = createWork(3, 5)
  work.steps(3)
  expect(() => {
    work.steps(1)
  }).toThrow('#: the document is too large: its references lead to more than 3 schemas and values')
  expect(() => {
    work.characters(6)
  }).toThrow('its types have more than 5 characters')
})

test('hidden characters of a document are escaped in the file', async () => {
  const evil = 'a\u202eb\u2066c\u200fd\u2028e\u2029f\u009bg\u001bh\u0085i\u{e0041}j\u007fk'
  const schema = {
    type: 'object',
    description: evil,
    properties: { [evil]: { const: evil, description: evil }, x: { enum: [evil] } },
  }
  const operation = {
    summary: evil,
    operationId: evil,
    parameters: [{ name: evil, in: 'query', schema: { enum: [evil] } }],
  }
  const document = documentOf(named('A'), { schemas: { A: schema } }, operation)
  const { text } = await importOpenApi(
    fileOf({ ...document, info: { title: evil, version: evil } }),
  )
  expect(text).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u)
  expect(text).toContain(
    String.raw`'a\u202eb\u2066c\u200fd\u2028e\u2029f\u009bg\u001bh\u0085i\udb40\udc41j\u007fk'`,
  )
})
