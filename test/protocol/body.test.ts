import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isServiceError } from '../../src/entries/index.ts'
import { decodeBody } from '../../src/protocol/body.ts'
import { processorTime } from '../kit/processor-time.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const depthOf = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 0
    : 1 + Math.max(0, ...Object.values(value).map(depthOf))

function outcomeOf(body: Uint8Array): unknown {
  try {
    return decodeBody(body).values
  } catch (error) {
    if (isServiceError(error) && error.code === 'MALFORMED_BODY') return undefined
    throw error
  }
}

test('decoding what JSON.stringify wrote is the identity for every object', () => {
  const value = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 5 }))
  const property = fc.property(value, fc.constantFrom(0, 2), (one, space) => {
    const text = JSON.stringify(one, null, space)
    expect(JSON.stringify(decodeBody(bytes(text)).values)).toBe(JSON.stringify(JSON.parse(text)))
    expect(JSON.stringify(decodeBody(bytes(`\ufeff${text}`)).values)).toBe(
      JSON.stringify(JSON.parse(text)),
    )
  })
  fc.assert(property, { numRuns: 500 })
})

test('a duplicate name is found at any position', () => {
  const name = fc.string({ unit: fc.constantFrom('a', ':', '"', '\\', '{', '}', '\u0000', 'é') })
  const property = fc.property(name, fc.nat(5), (one, depth) => {
    const written = JSON.stringify(one)
    const escaped = `"${Array.from(one, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
    const around = (inner: string) => `${'{"x":['.repeat(depth)}${inner}${']}'.repeat(depth)}`
    expect(outcomeOf(bytes(around(`{${written}:":",${escaped}:1}`)))).toBeUndefined()
    expect(outcomeOf(bytes(around(`{${written}:":","y${one.length}":1}`)))).toBeDefined()
  })
  fc.assert(property, { numRuns: 500 })
})

test('decoding any bytes throws nothing but MALFORMED_BODY', () => {
  const part = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\\',
    'a',
    '1',
    'null',
    ' ',
    '\\u00',
    '.',
    '-',
    'e',
  )
  const text = fc.array(part, { maxLength: 40 }).map((all) => bytes(all.join('')))
  fc.assert(
    fc.property(fc.oneof(text, fc.uint8Array()), (one) => {
      const value = outcomeOf(one)
      if (value !== undefined) expect(JSON.parse(new TextDecoder().decode(one))).toEqual(value)
    }),
    { numRuns: 5000 },
  )
})

test('the values of a body have at most 32 levels', () => {
  const nested = (depth: number) => bytes('{"a":'.repeat(depth + 1) + '1' + '}'.repeat(depth + 1))
  expect(depthOf(decodeBody(nested(32)).values['a'])).toBe(32)
  expect(() => decodeBody(nested(33))).toThrow('32')
  expect(() => decodeBody(nested(100_000))).toThrow('32')
  expect(() => decodeBody(bytes(']'.repeat(1_000_000)))).toThrow('JSON')
})

test('the depth of a body is the depth of its deepest value, not the number of its objects', () => {
  const siblings = (one: string) => bytes(`{"a":[${Array(40).fill(one).join()}]}`)
  expect(decodeBody(siblings('{}')).values).toEqual({ a: Array(40).fill({}) })
  expect(decodeBody(siblings('[]')).values).toEqual({ a: Array(40).fill([]) })
  expect(decodeBody(siblings('{"b":[1]}')).values).toEqual({ a: Array(40).fill({ b: [1] }) })
})

test('the message for invalid JSON has the position where the parser reports one', () => {
  expect(() => decodeBody(bytes('{"a":1,}'))).toThrow(
    'The request body is not valid JSON (at position 7).',
  )
  expect(() => decodeBody(bytes('{"a":"\t"}'))).toThrow(
    'The request body is not valid JSON (at position 6).',
  )
  expect(() => decodeBody(bytes('{"a":'))).toThrow(/^The request body is not valid JSON\.$/)
})

test.each([
  ['', 'A request body is required: one JSON object.'],
  ['[]', 'The request body must be one JSON object.'],
  ['null', 'The request body must be one JSON object.'],
  ['1', 'The request body must be one JSON object.'],
  ['"a"', 'The request body must be one JSON object.'],
  ['{"a":1,"a":1}', 'The request body has a duplicate name.'],
  [`{"a":"${'x'.repeat(90)}\t"}`, 'The request body is not valid JSON (at position 96).'],
  ['{"a', /^The request body is not valid JSON/],
])('the body %s is rejected with its reason', (text, message) => {
  expect(() => decodeBody(bytes(text))).toThrow(message)
})

test('a body that is not valid UTF-8 is rejected with this reason', () => {
  const body = Uint8Array.of(...bytes('{"a":"'), 0xff, ...bytes('"}'))
  expect(() => decodeBody(body)).toThrow('The request body is not valid UTF-8.')
})

test('a message never quotes the body', () => {
  for (const text of ['{"a":s3cret}', 's3cret', '{"s3cret":1,"s3cret":2}', '"s3cret"']) {
    expect(() => decodeBody(bytes(text))).toThrow(/^(?!.*s3cret)/)
  }
})

// Mutated code is instrumented, which takes time.
test.skipIf('MUTATION_TESTS' in process.env)('a body of a megabyte is read within a second', () => {
  const half = 500_000
  for (const text of [
    `{"a":"${'\\\\'.repeat(half)}"}`,
    `{"a":"${'\\"'.repeat(half)}"}`,
    `{"a":[${'1,'.repeat(half)}1]}`,
    `{"a":${' '.repeat(half)}${'1.5 '.repeat(half / 8)}}`,
    '"'.repeat(2 * half),
    '{'.repeat(2 * half),
  ]) {
    expect(processorTime(() => void outcomeOf(bytes(text)))).toBeLessThan(1000)
  }
})

test.each([
  ['9007199254740991.2', true],
  ['1.00000000000000000001', true],
  ['-0.99999999999999999999', true],
  ['1e-400', true],
  ['10000000000000000000001e-21', true],
  ['100000000000000000001e-20', true],
  ['1.00000000000000000000001e2', true],
  ['12.3400000000000000000000001E+2', true],
  ['1.0', false],
  ['-1.50e1', false],
  ['100e-2', false],
  ['0.0', false],
  ['0e-5', false],
  ['1E2', false],
  ['1.5', false],
  ['0.1', false],
  ['1e400', false],
  ['9007199254740993', false],
])('the number %s was rounded to an integer: %s', (number, isRounded) => {
  const names = isRounded ? ['a', 'b"\\', 'é'] : []
  const [a, b, c] = ['"a"', String.raw`"b\"\\"`, String.raw`"\u00e9"`]
  const text = `{ ${a} : ${number},"x":true,"y":{"z":${number}},${b}:${number}\n,"w":[${number}],${c}:${number}}`
  expect(Array.from(decodeBody(bytes(text)).rounded)).toEqual(names)
})
