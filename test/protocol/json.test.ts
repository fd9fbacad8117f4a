import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isServiceError } from '../../src/index.ts'
import { decodeBody } from '../../src/protocol/json.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const depthOf = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 0
    : 1 + Math.max(0, ...Object.values(value).map(depthOf))

function outcomeOf(body: Uint8Array): unknown {
  try {
    return decodeBody(body)
  } catch (error) {
    if (isServiceError(error) && error.code === 'MALFORMED_BODY') return undefined
    throw error
  }
}

test('decoding what JSON.stringify wrote is the identity for every object', () => {
  const value = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 5 }))
  const property = fc.property(value, fc.constantFrom(0, 2), (one, space) => {
    const text = JSON.stringify(one, null, space)
    expect(JSON.stringify(decodeBody(bytes(text)))).toBe(JSON.stringify(JSON.parse(text)))
    expect(JSON.stringify(decodeBody(bytes(`\ufeff${text}`)))).toBe(
      JSON.stringify(JSON.parse(text)),
    )
  })
  fc.assert(property, { numRuns: 500 })
})

test('a name that is written twice is found at any place', () => {
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

test('no bytes make decoding throw anything but MALFORMED_BODY', () => {
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

test('a depth of 32 is the limit', () => {
  const nested = (depth: number) => bytes('{"a":'.repeat(depth) + '1' + '}'.repeat(depth))
  expect(depthOf(decodeBody(nested(32)))).toBe(32)
  expect(() => decodeBody(nested(33))).toThrow('32')
  expect(() => decodeBody(nested(100_000))).toThrow('32')
  expect(() => decodeBody(bytes(']'.repeat(1_000_000)))).toThrow('JSON')
})

test('the depth of a body is that of its deepest value, not the number of its objects', () => {
  const siblings = (one: string) => bytes(`{"a":[${Array(40).fill(one).join()}]}`)
  expect(decodeBody(siblings('{}'))).toEqual({ a: Array(40).fill({}) })
  expect(decodeBody(siblings('[]'))).toEqual({ a: Array(40).fill([]) })
  expect(decodeBody(siblings('{"b":[1]}'))).toEqual({ a: Array(40).fill({ b: [1] }) })
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

test('a message never quotes the body', () => {
  for (const text of ['{"a":s3cret}', 's3cret', '{"s3cret":1,"s3cret":2}', '"s3cret"']) {
    expect(() => decodeBody(bytes(text))).toThrow(/^(?!.*s3cret)/)
  }
})

test('a body of a megabyte is read at once, whatever is in it', () => {
  const half = 500_000
  for (const text of [
    `{"a":"${'\\\\'.repeat(half)}"}`,
    `{"a":"${'\\"'.repeat(half)}"}`,
    `{"a":[${'1,'.repeat(half)}1]}`,
    '"'.repeat(2 * half),
    '{'.repeat(2 * half),
  ]) {
    const begun = performance.now()
    outcomeOf(bytes(text))
    expect(performance.now() - begun).toBeLessThan(1000)
  }
})
