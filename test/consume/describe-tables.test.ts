import { expect, test } from 'vitest'
import {
  connection,
  describeTables,
  endpoint,
  jsonSchema,
  jsonSchemas,
  readAs,
  sample,
  typed,
  type Schema,
} from 'rowgate/consume'
import { SchemaReader } from '../../src/consume/tables/schema-members.ts'

const api = connection({
  baseUrl: 'https://api.example.com',
  fetch: () => Promise.reject(new Error('A description needs no request.')),
})

function endpointOf<Response extends Schema>(response: Response) {
  return endpoint(api, { name: 'get-order', path: '/order', response })
}

/** Returns tables as `path: column types`, with a question mark if not every row has the column. */
function shown(value: unknown, options: object = {}): Record<string, string> {
  return Object.fromEntries(
    describeTables(value, options).map(({ path, columns }) => [
      path ?? 'root',
      columns
        .map(({ name, types, inEveryRow }) => `${name}${inEveryRow ? '' : '?'} ${types.join('|')}`)
        .join(', '),
    ]),
  )
}

const text = { type: 'string' }
const number = { type: 'number' }
const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})
const list = (items: object) => ({ type: 'array', items })

test.each<[what: string, schema: object, options: object, tables: Record<string, string>]>([
  [
    'an object',
    object({ a: text, b: { type: 'integer' } }, ['a']),
    {},
    { root: 'a string, b? number' },
  ],
  ['a list', list(object({ a: text })), {}, { root: 'a string' }],
  ['a list of scalars', list(text), {}, { root: 'value string' }],
  ['a scalar', number, {}, { root: 'value number' }],
  ['any value', {}, {}, { root: 'value any' }],
  [
    'nested objects, of which one is optional',
    object({ a: object({ b: text }), c: object({ d: text }) }, ['a']),
    {},
    { root: 'a/b string, c/d? string' },
  ],
  [
    'nested arrays',
    object({ id: text, a: list(object({ b: number, c: list(text) })) }),
    {},
    { root: 'id string', a: 'b number', 'a/c': 'value string' },
  ],
  [
    'null in place of an object or a scalar',
    object({
      a: { anyOf: [object({ b: text }), { type: 'null' }] },
      c: { type: ['string', 'null'] },
    }),
    {},
    { root: 'a/b? string, c null|string' },
  ],
  [
    'a scalar, an object or an array at one place',
    object({ a: { anyOf: [text, object({ b: number }), list(text)] } }),
    {},
    { root: 'a? string, a/b? number', a: 'value string' },
  ],
  [
    'parts of one object',
    { allOf: [object({ a: text }, []), { ...object({ b: number }, ['a', 'b']) }] },
    {},
    { root: 'a string, b number' },
  ],
  [
    'alternatives of an object',
    {
      oneOf: [object({ kind: { const: 'x' }, a: text }), object({ kind: { const: 'y' }, b: text })],
    },
    {},
    { root: 'kind string, a? string, b? string' },
  ],
  [
    'alternatives between which conditions decide',
    {
      ...object({ kind: text }),
      allOf: [
        { if: { properties: { kind: { const: 'A' } } }, then: object({ value: text, a: text }) },
        { if: { properties: { kind: { const: 'B' } } }, then: object({ value: number }) },
      ],
    },
    {},
    { root: 'kind string, value? number|string, a? string' },
  ],
  [
    'the two cases of a condition',
    { if: { required: ['a'] }, then: object({ b: text }), else: object({ b: number, c: text }) },
    {},
    { root: 'b? number|string, c? string' },
  ],
  [
    'a number that may be read as a string',
    object({ a: { if: { ...text, pattern: '^\\d{16}' }, else: { type: ['integer', 'null'] } } }),
    {},
    { root: 'a null|number|string' },
  ],
  [
    'types that exclude each other',
    object({ a: { allOf: [text, number] }, b: { allOf: [text, object({ c: number })] } }),
    {},
    { root: 'a any, b/c number' },
  ],
  [
    'values of an enumeration',
    object({ a: { enum: ['x', 1, null] } }),
    {},
    { root: 'a null|number|string' },
  ],
  [
    'a dictionary',
    object({ rates: { type: 'object', additionalProperties: number } }),
    {},
    { root: 'rates/*? number' },
  ],
  [
    'a dictionary as entries',
    object({ rates: { type: 'object', additionalProperties: number } }),
    { entries: ['rates'] },
    { root: '', rates: 'value? number' },
  ],
  [
    'a single element',
    object({ line: object({ sku: text }) }),
    { arrays: ['line'] },
    { root: '', line: 'sku string' },
  ],
  [
    'parallel arrays',
    object({
      hourly: object({ unit: text, time: list(text), rain: list({ type: ['number', 'null'] }) }),
    }),
    { zip: ['hourly'] },
    { root: 'hourly/unit string', hourly: 'time string, rain null|number' },
  ],
  [
    'a schema that contains itself',
    {
      $defs: { node: object({ id: text, children: list({ $ref: '#/$defs/node' }) }) },
      $ref: '#/$defs/node',
    },
    {},
    { root: 'id string', children: 'id string, children array' },
  ],
  [
    'names of every kind',
    object({ 'a/b': text, __proto__: text, constructor: text }),
    {},
    { root: 'a~1b string, constructor string' },
  ],
])('describes the tables of a schema of %s', (_what, schema, options, tables) => {
  expect(shown(endpointOf(jsonSchema(schema)), options)).toEqual(tables)
})

test('describes an endpoint by definitions, by a sample and as readAs reads it', () => {
  const checked = jsonSchemas({ Line: object({ sku: text }) })
  const lines = checked<{ line: { sku: string } }>(
    object({ line: { $ref: 'rowgate:definitions#/$defs/Line' } }),
  )
  expect(shown(endpointOf(lines))).toEqual({ root: 'line/sku string' })
  expect(shown(readAs(endpointOf(lines), { arrays: ['line'] }))).toEqual({
    root: '',
    line: 'sku string',
  })
  expect(shown(endpointOf(sample({ a: [{ b: 1 }] })))).toEqual({ root: '', a: 'b number' })
})

test('names the endpoint whose response only the compiler knows', () => {
  expect(() => describeTables(endpointOf(typed<{ a: string }>()))).toThrow(
    'the responses of get-order have no sample and no JSON Schema',
  )
})

test('follows fewer levels of schemas that refer to each other many times', () => {
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`)
  const members = Object.fromEntries(
    names.map((name) => [name, { $ref: `rowgate:definitions#/$defs/${name}` }]),
  )
  const definitions = Object.fromEntries(
    names.map((name) => [name, object({ id: text, ...members }, ['id'])]),
  )
  const tables = shown(endpointOf(jsonSchemas(definitions)(object(members))))
  expect(tables['root']?.split(', ')).toContain('n0/id string')
  expect(tables['root']?.split(', ')).toContain('n0/n1? object')
})

test('rejects a schema whose references lead to each other over too many levels', () => {
  const chain = (length: number) => ({
    $defs: Object.fromEntries(
      Array.from({ length }, (_, at) => [
        `n${at}`,
        at === length - 1 ? object({ id: text }) : { allOf: [{ $ref: `#/$defs/n${at + 1}` }] },
      ]),
    ),
    $ref: '#/$defs/n0',
  })
  expect(shown(endpointOf(jsonSchema(chain(400))))).toEqual({ root: 'id string' })
  expect(() => describeTables(endpointOf(jsonSchema(chain(2_000))))).toThrow(
    'The schema of the response cannot be read: its references, parts and alternatives lead to each other over more than 1000 levels.',
  )
})

/** A schema of 40 levels, each of which refers to the next one twice, and the last one to others. */
function levels(key: string, refer: (name: string) => object, last: object) {
  const names = Array.from({ length: 40 }, (_, index) => `L${index}`)
  const twice = (name: string | undefined) =>
    name === undefined ? last : { [key]: [refer(name), refer(name)] }
  return Object.fromEntries(names.map((name, index) => [name, twice(names[index + 1])]))
}

test.each(['anyOf', 'oneOf', 'allOf'])(
  'reads schemas once that refer to each other by %s',
  (key) => {
    const refer = (name: string) => ({ $ref: `#/$defs/${name}` })
    const last = { ...object({ a: text, b: list(object({ c: number })) }) }
    const schema = { $defs: levels(key, refer, last), ...refer('L0') }
    expect(shown(endpointOf(jsonSchema(schema)))).toEqual({ root: 'a string', b: 'c number' })
    const cyclic = { $defs: levels(key, refer, { anyOf: [refer('L0'), last] }), ...refer('L0') }
    expect(shown(endpointOf(jsonSchema(cyclic)))).toEqual({ root: 'a string', b: 'c number' })
  },
)

test('a schema that is too deep is rejected each time that it is read', () => {
  const deepest: { allOf?: object[] } = {}
  let schema: { allOf?: object[] } = deepest
  for (let level = 0; level < 1_001; level++) schema = { allOf: [schema] }
  const reader = new SchemaReader(schema, {})
  for (let times = 0; times < 2; times++)
    expect(() => reader.read(schema as Record<string, unknown>)).toThrow(
      'over more than 1000 levels',
    )
})
