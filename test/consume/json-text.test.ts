import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseResponse } from '../../src/consume/connection/json-text.ts'

const limits = { maxDepth: 64, largeNumbers: 'reject' } as const

test('valid JSON is parsed as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), fc.constantFrom('', ' ', '\n'), (text, space) => {
      const spaced = space + text + space
      const large = /\d{16}|e\+?\d{3}/i.test(text)
      fc.pre(!large)
      expect(parseResponse(spaced, limits)).toEqual({ value: JSON.parse(text) as unknown })
    }),
    { numRuns: 2000 },
  )
})

test('text is accepted if and only if JSON.parse accepts it, apart from the limits', () => {
  const piece = fc.constantFrom(
    ...'{ } [ ] , : " \\ - . 1 0 e 12345678901234567890 1e999 "a" true null'.split(' '),
    ' ',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      const result = parseResponse(text, { ...limits, largeNumbers: 'string' })
      if ('value' in result) expect(() => void JSON.parse(text)).not.toThrow()
    }),
    { numRuns: 20_000 },
  )
})

test.each([
  ['{"a": 1, "a": 2}', 'duplicate name'],
  ['{"a": 1, "\\u0061": 2}', 'duplicate name'],
  ['[{"b": {"a": 1, "a": 1}}]', 'duplicate name'],
  ['9007199254740992', 'large number', ''],
  ['[-1e400]', 'large number', '/0'],
  ['[-1e400', 'invalid'],
  ['{12345678901234567890                    : 1}', 'invalid'],
  ['['.repeat(100_000), 'too deep'],
])('%s is rejected', (text, problem, place?: string) => {
  expect(parseResponse(text, limits)).toEqual({ problem, place })
})

test.each(['9007199254740991', '-9007199254740991', '1e300', '"12345678901234567890"', '1.5e-999'])(
  'the number or string %s is accepted',
  (text) => {
    expect(parseResponse(text, limits)).toEqual({ value: JSON.parse(text) as unknown })
  },
)

test('a name that JavaScript knows is an ordinary name', () => {
  const parsed = parseResponse('{"__proto__": {"a": 1}, "constructor": 2}', limits)
  expect('value' in parsed && Object.keys(Object(parsed.value) as object)).toEqual([
    '__proto__',
    'constructor',
  ])
})
