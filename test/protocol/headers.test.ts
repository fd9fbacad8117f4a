import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isServiceError } from '../../src/entries/index.ts'
import { acceptsJson, isChunked, isIdentity, isJson } from '../../src/protocol/media.ts'
import { brandedHeaders } from '../../src/protocol/names.ts'
import { trimBlanks } from '../../src/protocol/blanks.ts'
import { decodeIgnoredWarnings, encodeIgnoredWarnings } from '../../src/protocol/warnings.ts'
import { processorTime } from '../kit/processor-time.ts'

const hostile = fc.string({
  unit: fc.constantFrom('"', ',', ' ', '\t', 'a', ';', '=', '/', '*', 'q', '0', '\\'),
})

test('decoding encoded ids is the identity', () => {
  const id = fc.string({ unit: 'binary' }).filter((one) => !one.includes('"'))
  fc.assert(
    fc.property(fc.uniqueArray(id, { maxLength: 100 }), (ids) => {
      expect(Array.from(decodeIgnoredWarnings(encodeIgnoredWarnings(ids)))).toEqual(ids)
    }),
  )
})

test('decoding any header throws nothing but MALFORMED_HEADER', () => {
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string({ unit: 'binary' })), (header) => {
      try {
        for (const id of decodeIgnoredWarnings(header)) expect(header).toContain(`"${id}"`)
      } catch (error) {
        expect(isServiceError(error) && error.code).toBe('MALFORMED_HEADER')
      }
    }),
    { numRuns: 2000 },
  )
})

test.each([
  [undefined, []],
  ['', []],
  [' ,\t, ', []],
  ['"a"', ['a']],
  ['"a","b"', ['a', 'b']],
  [' "a" ,, "b" ,', ['a', 'b']],
  ['   "a" \t ,\t\t"b"\t', ['a', 'b']],
  ['"a,b"', ['a,b']],
  ['"a", "a"', ['a']],
  ['""', ['']],
])('the header %s lists %j', (header, ids) => {
  expect(Array.from(decodeIgnoredWarnings(header))).toEqual(ids)
})

test('the message for a malformed header has the rule', () => {
  expect(() => decodeIgnoredWarnings('a')).toThrow(
    'The header that lists the warnings to ignore is malformed: put each id in double quotes and separate ids with commas.',
  )
})

test.each([
  ['', ''],
  [' ', ''],
  ['\t \t', ''],
  ['a', 'a'],
  [' \ta b\t ', 'a b'],
  ['\u00a0a\n', '\u00a0a\n'],
])('%j without outer spaces and tabs is %j', (text, trimmed) => {
  expect(trimBlanks(text)).toBe(trimmed)
})

test('100 ids are accepted, and 101 are not', () => {
  const header = (count: number) => Array.from({ length: count }, () => '"a"').join()
  expect(decodeIgnoredWarnings(header(100)).size).toBe(1)
  expect(() => decodeIgnoredWarnings(header(101))).toThrow('100')
})

test('checking any media type header does not throw, and takes less than 200 ms', () => {
  const long = fc
    .tuple(hostile, fc.nat(2000))
    .map(([unit, times]) => unit.repeat(times).slice(0, 16_000))
  fc.assert(
    fc.property(fc.oneof(hostile, long), (header) => {
      // Mutated code is instrumented, which takes time.
      const limit = 'MUTATION_TESTS' in process.env ? Infinity : 200
      const check = (): void => {
        acceptsJson(header)
        isJson(header)
        isIdentity(header)
      }
      expect(processorTime(check)).toBeLessThan(limit)
    }),
    { numRuns: 500 },
  )
})

test.each([
  [undefined, true],
  ['', true],
  ['*/*', true],
  ['application/*', true],
  ['text/html, application/json;q=0.1', true],
  ['application/json;q=0', false],
  ['application/json; Q=0', false],
  ['text/*', false],
  ['*/*, application/json;q=0.0', false],
  ['application/*;q=0, application/json', true],
  ['*/json', true],
  ['text/html, */*', true],
  ['text/html, */json', false],
  ['text/html x', true],
  ['x text/html', true],
  ['application/json;q= 0', false],
  ['application/json;q =0', false],
  ['application/json; a=b; q=0.0', false],
  ['application/json;xq=0', true],
  [';;', true],
])('Accept: %s admits JSON: %s', (header, is) => expect(acceptsJson(header)).toBe(is))

test.each([
  ['application/json', true],
  ['Application/JSON ; Charset=UTF-8', true],
  ['application/json; charset="utf-8"', true],
  ['application/json; charset=utf-16', false],
  ['application/json; charset', false],
  ['application/problem+json', false],
  [undefined, false],
  [`application/json;${'x'.repeat(2000)}`, false],
  ['application/json;', true],
  ['application/json ; charset=utf-8 ; ', true],
  ['application/json; x="a, b; \\" c"', true],
  ['application/json, application/json', false],
  ['application/json; x=y, text/plain', false],
  ['application/json; charset=utf-8, application/json', false],
  ['application/json; x', false],
  ['application/json; x=', false],
  ['application/json; =y', false],
  ['application/json; x =y', false],
  ['application/json; x= y', false],
  ['application/json; x="y', false],
  ['application/json; x=y z', false],
  ['application/json charset=utf-8', false],
  ['application/jsonx', false],
  ['application/json; charset=xutf-8', false],
  ['application/json; charset=utf-8x', false],
  ['application/json; charset="utf-8', false],
])('Content-Type: %s is JSON in UTF-8: %s', (header, is) => expect(isJson(header)).toBe(is))

test('a Content-Type header of 1024 characters is read, a longer one is not', () => {
  const padded = (length: number) => 'application/json'.padEnd(length)
  expect(isJson(padded(1024))).toBe(true)
  expect(isJson(padded(1025))).toBe(false)
})

test.each([
  [undefined, true],
  ['identity', true],
  [' Identity ', true],
  ['gzip', false],
  ['identity, gzip', false],
  ['gzip,', false],
  ['identity, identity', true],
  ['', true],
  [' \t', true],
  [', ', true],
])('Content-Encoding: %s leaves the body as it is: %s', (header, is) => {
  expect(isIdentity(header)).toBe(is)
})

test.each([
  [undefined, true],
  ['chunked', true],
  [' Chunked ', true],
  ['gzip', false],
  ['gzip, chunked', false],
  ['', false],
])('Transfer-Encoding: %s leaves the body as it is: %s', (header, is) => {
  expect(isChunked(header)).toBe(is)
})

test('the brand word is part of the header names', () => {
  expect(brandedHeaders('svc')).toEqual({
    ignoreWarnings: 'x-svc-ignore-warnings',
    version: 'X-Svc-Version',
    nextCursor: 'X-Svc-Next-Cursor',
    estimatedCount: 'X-Svc-Estimated-Count',
  })
})
