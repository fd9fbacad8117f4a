import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  importOpenApi,
  type ImportedEndpoints,
} from '../../../src/consume/openapi/import-openapi.ts'
import { rejection } from '../calls.ts'
import { writeFiles } from './generated.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-lenient-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

function fileOf(document: unknown): string {
  const isText = typeof document === 'string'
  const file = join(folder, isText ? 'document.yaml' : 'document.json')
  writeFileSync(file, isText ? document : JSON.stringify(document, null, 2))
  return file
}

const imported = (document: unknown): Promise<ImportedEndpoints> => importOpenApi(fileOf(document))
const strictly = (document: unknown): Promise<ImportedEndpoints> =>
  importOpenApi(fileOf(document), { isStrict: true })

/** A document with one operation, whose response has a schema. */
function documentOf(schema: unknown, schemas: object = {}, more: object = {}): object {
  const content = { 'application/json': { schema } }
  return {
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    paths: { '/a': { get: { responses: { 200: { description: 'x', content } }, ...more } } },
    components: { schemas },
  }
}

const named = (name: string) => ({ $ref: `#/components/schemas/${name}` })

describe('a $ref in data is not a reference', () => {
  const data = { rule: { $ref: 'other.json#/rule' }, list: [{ $ref: '#/nothing' }] }
  const string = { type: 'string' }

  test.each([
    ['the example of a schema', documentOf({ example: data })],
    ['the examples of a schema', documentOf({ examples: [data] })],
    ['the default of a schema', documentOf({ default: data })],
    ['a constant', documentOf({ const: data })],
    ['an enumeration', documentOf({ enum: [data] })],
    ['an extension', documentOf({ 'x-shop': data })],
    [
      'the example of a parameter',
      documentOf(
        {},
        {},
        { parameters: [{ name: 'q', in: 'query', schema: string, example: data }] },
      ),
    ],
    [
      'the examples of a body',
      {
        ...documentOf({}),
        paths: {
          '/a': {
            post: {
              requestBody: {
                content: {
                  'application/json': { schema: string, examples: { a: { value: data } } },
                },
              },
              responses: { 204: { description: 'x' } },
            },
          },
        },
      },
    ],
    [
      'the link of a response',
      {
        ...documentOf({}),
        components: { links: { next: { operationId: 'a', requestBody: data } } },
      },
    ],
  ])('in %s, even if the import is strict', async (_what, document) => {
    const { count } = await imported(document)
    expect(count).toBe(1)
    expect((await strictly(document)).count).toBe(1)
  })

  test('but a property with the name of such a member is a schema', async () => {
    const properties = { example: { $ref: '#/nothing' }, default: named('A') }
    const error = await rejection(imported(documentOf({ type: 'object', properties }, { A: {} })))
    expect(error.message).toMatch(/properties\/example\/\$ref: refers to nothing/)
    expect(error.message).not.toContain('default')
  })

  test('and a property may have the name $ref', async () => {
    const { text } = await imported(
      documentOf({ type: 'object', properties: { $ref: { type: 'string' } }, required: ['$ref'] }),
    )
    expect(text).toContain('$ref: string')
  })
})

describe('only what is imported must have a meaning', () => {
  const broken = { $ref: 'other.json#/X' }
  const content = (schema: object) => ({ 'application/json': { schema } })

  test.each([
    ['a schema that is not used', documentOf({}, { Unused: { properties: { x: broken } } })],
    [
      'the response to an error',
      documentOf(
        {},
        {},
        {
          responses: {
            200: { description: 'x' },
            400: { description: 'y', content: content(broken) },
          },
        },
      ),
    ],
    [
      'a header of a response',
      documentOf({}, {}, { responses: { 200: { description: 'x', headers: { a: broken } } } }),
    ],
    ['a callback', documentOf({}, {}, { callbacks: { done: broken } })],
  ])('a reference to another document in %s does not matter', async (_what, document) => {
    expect((await imported(document)).notes).toEqual([])
    expect((await rejection(strictly(document))).message).toMatch(/refers to another document/)
  })
})

// Each line that is repaired has its number in the expected notes.
const shop = `openapi: 3.0
info:
  title: Shop
  version: 1.0
paths:
  orders/{id}:
    get:
      operationId: get
      parameters:
        - { name: shop, in: path, required: true, schema: { type: string } }
        - name: expand
          in: query
        - { name: expand, in: query, schema: { type: boolean } }
      responses:
        200:
          content:
            application/json:
              schema: null
    delete:
      operationId: get
      parameters:
        - name: id
          in: path
          schema: { type: integer }
      responses:
        200:
          description: The order.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Order'
components:
  schemas:
    Order:
      type: object
      properties:
        id: { type: integer, required: true }
        note:
          oneOf:
            - type: string
            - type: "null"
        lines:
          type: array
        due: { type: date }
        tags: { type: [string, "null"] }
        price:
`

test('what has a meaning all the same is repaired, each with the line of the file', async () => {
  const { text, notes } = await imported(shop)
  expect(notes).toEqual([
    "line 1: #/openapi: is not a complete version: it is read as '3.0.0'",
    "line 4: #/info/version: is not a string: it is read as '1'",
    'line 11: #/paths/orders~1{id}/get/parameters/1: has no schema: it is a string',
    'line 15: #/paths/orders~1{id}/get/responses/200: has no description',
    'line 18: #/paths/orders~1{id}/get/responses/200/content/application~1json/schema: is null: any value is possible',
    'line 22: #/paths/orders~1{id}/delete/parameters/0: is in the path, but not required: it is required',
    'line 46: #/components/schemas/Order/properties/price: is null: any value is possible',
    'line 37: #/components/schemas/Order/properties/id/required: is not a list: it is left out',
    'line 41: #/components/schemas/Order/properties/note/oneOf/1/type: has a form of OpenAPI 3.1, and is read as such',
    'line 42: #/components/schemas/Order/properties/lines: is an array without items: they are any values',
    'line 44: #/components/schemas/Order/properties/due/type: date is not a type: any value is possible',
    'line 45: #/components/schemas/Order/properties/tags/type: has a form of OpenAPI 3.1, and is read as such',
    'line 7: #/paths/orders~1{id}/get: its path has no slash at the start: it gets one',
    'line 7: #/paths/orders~1{id}/get: the parameter shop is not in its path',
    'line 7: #/paths/orders~1{id}/get: the parameter expand is declared twice: the last declaration is read',
    'line 7: #/paths/orders~1{id}/get: the parameter id is not declared: it is a string',
    'line 19: #/paths/orders~1{id}/delete: its path has no slash at the start: it gets one',
    'line 19: #/paths/orders~1{id}/delete: has the operationId of another operation: it is named get2',
  ])
  expect(text).toContain("path: '/orders/{id}',\n      query: {\n        expand: 'boolean',")
  expect(text).toContain("parameters: {\n        id: 'integer',")
  expect(text).toContain('note?: string | null')
  expect(text).toContain(
    'lines?: unknown[]\n  due?: unknown\n  tags?: string | null\n  price?: unknown',
  )
  const files = writeFiles({ shop: text })
  expect(files.check()).toEqual([])
  files.remove()
})

describe('a strict import rejects all of it', () => {
  const lines = (document: unknown): Promise<string> =>
    rejection(strictly(document)).then(({ message }) => message)

  test('with the line of each', async () => {
    const message = await lines(shop)
    for (const place of [
      'line 1: #/openapi',
      'line 4: #/info/version',
      'line 15: #/paths/orders~1{id}/get/responses/200:',
      'line 18: #/paths/orders~1{id}/get/responses/200/content/application~1json/schema',
      'line 37: #/components/schemas/Order/properties/id/required',
    ])
      expect(message).toContain(`  - ${place}`)
  })

  test.each([
    ['an undeclared path parameter', { paths: { '/a/{id}': { get: { responses: {} } } } }],
    ['info that is missing', { info: undefined }],
    ['an unknown member', { paths: { '/a': { get: { responses: {}, respons: 1 } } } }],
    ['a path without a slash', { paths: { a: { get: { responses: {} } } } }],
    ['parameters that are no list', { paths: { '/a': { parameters: { a: 1 } } } }],
    ['an operation that is null', { paths: { '/a': { get: null } } }],
  ])('and %s', async (_what, change) => {
    const document = { ...documentOf({}), ...change }
    expect((await imported(document)).text).toContain('export function endpoints')
    expect(await lines(document)).toMatch(/The document cannot be imported/)
  })
})

describe('a place has a line', () => {
  const broken = { type: 'string', required: true }

  test('in JSON with tabs', async () => {
    const file = fileOf(documentOf({}))
    writeFileSync(file, JSON.stringify(documentOf(broken), null, '\t'))
    const { notes } = await importOpenApi(file)
    expect(notes).toEqual([expect.stringMatching(/^line 17: #.*\/schema\/required: is not a list/)])
  })

  test('also behind an anchor and below a member that is missing', async () => {
    const { notes } = await imported(`openapi: 3.0.3
info: {title: x, version: '1'}
x-ok: &ok
  200:
    content: {}
paths:
  /a:
    get:
      responses: *ok
`)
    expect(notes).toEqual(['line 9: #/paths/~1a/get/responses/200: has no description'])
  })

  test('with a name that has spaces, slashes and quotes', async () => {
    const { notes } = await imported(
      documentOf({ $ref: '#/components/schemas/a%20b~1"c' }, { 'a b/"c': broken }),
    )
    expect(notes).toEqual([
      'line 29: #/components/schemas/a b~1"c/required: is not a list: it is left out',
    ])
  })
})

test('many repairs are counted', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 1_500 }, (_, at) => [`p${at}`, { enum: 1 }]),
  )
  const { notes } = await imported(documentOf({ type: 'object', properties }))
  expect(notes).toHaveLength(1_001)
  expect(notes.at(-1)).toBe('#: 500 more repairs')
})

describe('a schema that is one of its own alternatives, through a common part', () => {
  const text = { type: 'string' }
  const object = (properties: object, required = Object.keys(properties)) => ({
    type: 'object',
    properties,
    required,
  })
  const Payment = {
    ...object({ kind: text, amount: { type: 'integer' } }),
    oneOf: [named('Card'), named('Bank'), named('Cash')],
    discriminator: { propertyName: 'kind', mapping: { card: '#/components/schemas/Card' } },
  }
  const Card = { allOf: [named('Payment'), object({ kind: { const: 'card' }, last4: text })] }
  const Bank = {
    allOf: [
      named('Payment'),
      object({ kind: { const: 'bank' }, iban: text, refund: named('Payment') }, ['kind', 'iban']),
    ],
  }
  const Cash = { allOf: [named('Payment')], ...object({ kind: { const: 'cash' } }) }
  // A hierarchy of two levels, whose middle is an alternative itself.
  const Animal = { oneOf: [named('Pet'), named('Cow')], ...object({ name: text }) }
  const Pet = {
    allOf: [named('Animal'), object({ owner: text })],
    anyOf: [named('Dog'), named('Cat')],
  }
  const Dog = { allOf: [named('Pet'), object({ barks: { const: true } })] }
  const Cat = { allOf: [named('Pet'), object({ barks: { const: false } })] }
  const Cow = { allOf: [named('Animal'), object({ milk: { type: 'number' } })] }
  // The base has nothing of its own, and one alternative does not extend it.
  const Shape = {
    oneOf: [named('Circle'), named('Point')],
    discriminator: { propertyName: 'type' },
  }
  const Circle = { allOf: [named('Shape'), object({ radius: { type: 'number' } })] }
  const Point = object({ x: { type: 'number' } })
  // A part of itself.
  const Node = { allOf: [named('Node'), object({ next: named('Node') }, [])] }

  const schemas = {
    Payment,
    Card,
    Bank,
    Cash,
    Animal,
    Pet,
    Dog,
    Cat,
    Cow,
    Shape,
    Circle,
    Point,
    Node,
  }
  const all = object({
    payment: named('Payment'),
    animal: named('Animal'),
    dog: named('Dog'),
    shape: named('Shape'),
    circle: named('Circle'),
    node: named('Node'),
  })

  test('has the type of both', { timeout: 60_000 }, async () => {
    const { text: file, notes } = await imported(documentOf(all, schemas))
    expect(notes).toEqual([])
    const files = writeFiles({
      all: file,
      uses: `
import type { Animal, Bank, Card, Cash, Circle, Dog, Node, Payment, Shape } from './all.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_equal: Equal<A, B>): void => undefined

export function useAll(payment: Payment, animal: Animal, shape: Shape): void {
  same<Card['amount'], number>(true)
  same<Cash['kind'], 'cash'>(true)
  if (payment.kind === 'card') same<typeof payment.last4, string>(true)
  if (payment.kind === 'bank') same<typeof payment.iban, string>(true)
  const bank: Bank = { kind: 'bank', amount: 1, iban: 'NO93', refund: { kind: 'cash', amount: 1 } }
  const card: Payment = { kind: 'card', amount: 1, last4: '4242' }
  // @ts-expect-error -- The amount of all payments is missing.
  const lacking: Card = { kind: 'card', last4: '4242' }
  const dog: Dog = { name: 'Rex', owner: 'Ada', barks: true }
  const found: Animal = dog
  same<Animal['name'], string>(true)
  if ('milk' in animal) same<typeof animal.milk, number>(true)
  else same<typeof animal.owner, string>(true)
  // @ts-expect-error -- A dog has an owner.
  const stray: Dog = { name: 'Rex', barks: true }
  const circle: Circle = { radius: 1 }
  if ('radius' in shape) same<typeof shape.radius, number>(true)
  else same<typeof shape.x, number>(true)
  const node: Node = { next: { next: {} } }
  void [bank, card, lacking, found, stray, circle, node]
}
`,
    })
    expect(files.check()).toEqual([])
    files.remove()
  })

  test('also in a chain of 3,000 levels', async () => {
    const long = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, at) => [
        `S${at}`,
        { allOf: at === 0 ? [] : [named(`S${at - 1}`)], ...object({ [`p${at}`]: text }) },
      ]),
    )
    const { text: file } = await imported(documentOf(named('S2999'), long))
    expect(file.match(/export type /g)).toHaveLength(3_000)
  })
})

describe('a file is read', () => {
  const operation = `
paths:
  /a:
    get: &get
      operationId: a
      responses: { 200: { description: x } }
  /b:
    get:
      <<: *get
      operationId: b
`
  const info = "openapi: 3.0.3\ninfo: { title: x, version: '1' }"

  test('with a byte order mark', async () => {
    for (const document of [info + operation, JSON.stringify(documentOf({}))]) {
      const file = fileOf(document)
      writeFileSync(file, `\ufeff${document}`)
      expect((await importOpenApi(file)).notes).toEqual([])
    }
  })

  test('with a comma after the last member of a JSON object', async () => {
    const file = fileOf(documentOf({}))
    writeFileSync(file, JSON.stringify(documentOf({})).replace(/}$/, ',}'))
    expect((await importOpenApi(file)).count).toBe(1)
    writeFileSync(file, '{"openapi": [}')
    expect((await rejection(importOpenApi(file))).message).toMatch(/not valid JSON/)
  })

  test('with merge keys', async () => {
    const { text, count } = await imported(info + operation)
    expect(count).toBe(2)
    expect(text).toContain("path: '/b'")
  })

  test('with a tag of YAML 1.1', async () => {
    expect((await imported(`${info}\nx-at: !!timestamp 2026-01-01${operation}`)).count).toBe(2)
  })

  test('unless it is not UTF-8', async () => {
    const file = fileOf(info + operation)
    writeFileSync(file, Buffer.from(`${info}\nx: \xff${operation}`, 'latin1'))
    expect((await rejection(importOpenApi(file))).message).toMatch(/#: cannot be read: .*encoded/)
  })
})

test.each([
  ['type: string, enum: [1, 2.5, true, a]', "'1' | '2.5' | 'true' | 'a'"],
  ['type: [string, "null"], enum: [1, null]', "'1' | null"],
  ['type: string, const: 10', "'10'"],
  ['type: [string, "null"], nullable: true, enum: [a, null]', "'a' | null"],
  ['type: string, nullable: true, enum: [a, null]', "'a' | null"],
  ['type: integer, enum: ["1", "2"]', '1 | 2'],
  ['type: boolean, enum: ["true"]', 'true'],
  ['type: [string, integer], enum: [1, a]', "1 | 'a'"],
  ['enum: [1, a]', "1 | 'a'"],
])('values have the type of their schema: %s', async (schema, type) => {
  const { text, notes } = await imported(`
openapi: 3.1.0
info: { title: x, version: '1' }
paths:
  /a:
    get:
      parameters: [{ name: q, in: query, schema: { ${schema} } }]
      responses:
        200: { description: x, content: { application/json: { schema: { ${schema} } } } }
`)
  expect(text).toContain(`response: typed<${type}>()`)
  const isRepaired = !/\[1, a\]|\[a, null\]/.test(schema)
  expect(notes.some((note) => note.includes('it is read as a'))).toBe(isRepaired)
})

test.each([
  ['type: string, enum: [1.0, 1.1]', 'enum: has the number 1.0'],
  ['type: string, enum: [01, 02]', 'enum: has the number 01'],
  ['type: string, enum: [1, 12345678901234567890]', 'enum: has the number 12345678901234567890'],
  ['type: string, enum: [True, a]', 'enum: has the boolean True'],
  ['type: string, const: 1.0', 'const: has the number 1.0'],
  ['type: string, enum: *values', 'enum: has the number 1'],
])('values that may be other strings are left out: %s', async (schema, problem) => {
  const { text, notes } = await imported(`
openapi: 3.1.0
info: { title: x, version: '1' }
x-values: &values [1]
paths:
  /a:
    get:
      parameters: [{ name: q, in: query, schema: { ${schema} } }]
      responses:
        200: { description: x, content: { application/json: { schema: { ${schema} } } } }
`)
  expect(text).toContain('response: typed<string>()')
  expect(text).not.toContain('choices')
  const found = notes.filter((note) => note.includes(`${problem}, not a string: it is left out`))
  expect(found).toHaveLength(2)
})
