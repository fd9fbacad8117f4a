import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isServiceError } from '../../src/entries/index.ts'
import { decodeKey, encodeKey, unaddressable } from '../../src/protocol/key.ts'
import {
  applicationOf,
  decodePath,
  encodePath,
  originForm,
  requireTarget,
  splitTarget,
} from '../../src/protocol/path.ts'
import { decodeFormPercent, decodePercent } from '../../src/protocol/percent.ts'

const text = fc.string({ unit: 'binary' })
const segment = fc
  .string({ unit: 'binary', minLength: 1 })
  .filter((one) => one !== '.' && one !== '..')

function codeOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (isServiceError(error)) return error.code
    throw error
  }
}

test('decoding an encoded text is the identity', () => {
  fc.assert(
    fc.property(text, (one) => {
      expect(decodePercent(encodeURIComponent(one))).toBe(one)
    }),
  )
  fc.assert(
    fc.property(text, (one) => {
      const form = encodeURIComponent(one).replaceAll('%20', '+')
      expect(decodeFormPercent(form)).toBe(one)
    }),
  )
})

const latin1 = (one: string) => Buffer.from(one).toString('latin1')

test('raw UTF-8 bytes, as Node passes them, decode like encoded ones', () => {
  fc.assert(
    fc.property(text, (one) => {
      expect(decodePercent(latin1(one.replaceAll('%', '%25')))).toBe(one)
    }),
  )
})

test('raw bytes and escapes in one text decode together', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.boolean())), (parts) => {
      const mixed = parts.map(([one, raw]) =>
        raw ? latin1(one.replaceAll('%', '%25')) : encodeURIComponent(one),
      )
      expect(decodePercent(mixed.join(''))).toBe(parts.map(([one]) => one).join(''))
    }),
  )
})

test('percent-decoding any string does not throw, and its results are well-formed', () => {
  const hostile = fc.oneof(
    fc.string({ unit: fc.constantFrom('%', '2', 'f', 'C', '0', 'a', 'é', '\u{1F600}', '+', 'E') }),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(hostile, (one) => {
      expect(decodePercent(one)?.isWellFormed() ?? true).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

test.each([
  '%',
  '%2',
  '%zz',
  '%u0041',
  '%ff',
  '%C3',
  '%c0%af',
  '%ED%A0%80',
  '%F5%80%80%80',
  '%e2%82',
  'é%C3',
  'é%41',
  'Ã©%zz',
  'Ã©%4',
  '\u0100',
  '\u0100%41',
  '\u010041',
  '\u{1F600}%41',
])('the text %s does not decode', (one) => {
  expect(decodePercent(one)).toBeUndefined()
})

test.each([
  ['%2541', '%41'],
  ['%00', '\0'],
  ['a+b', 'a+b'],
  ['Ã©%41', 'éA'],
  ['%41Ã©%c3%A9Z', 'AééZ'],
  ['\x7f', '\x7f'],
  ['~%7E', '~~'],
  ['%EF%BB%BFa', '\ufeffa'],
  ['', ''],
])('the text %s decodes once', (given, decoded) => expect(decodePercent(given)).toBe(decoded))

test.each([
  ['a+b', 'a b'],
  ['+', ' '],
  ['%2B', '+'],
  ['a+%2B%20+b', 'a +  b'],
  ['plain', 'plain'],
])('the text %s of a query decodes to "%s"', (given, decoded) =>
  expect(decodeFormPercent(given)).toBe(decoded),
)

test('decoding an encoded path is the identity', () => {
  const property = fc.property(
    segment,
    segment,
    fc.option(segment),
    (application, collection, key) => {
      const path = {
        application,
        collection,
        key: key === null ? undefined : encodeURIComponent(key),
      }
      expect(decodePath(encodePath(path))).toEqual(path)
    },
  )
  fc.assert(property)
})

test('decoding any path throws nothing but NOT_FOUND and MALFORMED_TARGET', () => {
  const part = fc.constantFrom(
    '/',
    'rest',
    'v1',
    '/rest/v1/',
    '%',
    '%2f',
    '..',
    '.',
    'app',
    '\\',
    '?',
    '%zz',
    'é',
    '',
  )
  const path = fc.array(part, { maxLength: 10 }).map((parts) => parts.join(''))
  const known = [undefined, 'NOT_FOUND', 'MALFORMED_TARGET']
  fc.assert(
    fc.property(fc.oneof(path, text), (one) => {
      expect(known).toContain(codeOf(() => decodePath(one)))
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['/rest/v1/a/b', undefined],
  ['/rest/v1/a/b/c', undefined],
  ['/rest/v1/a/b/', 'NOT_FOUND'],
  ['/rest/v1/a/b/c/d', 'NOT_FOUND'],
  ['/rest/v1/a', 'NOT_FOUND'],
  ['/rest/v1//b', 'NOT_FOUND'],
  ['/rest/v1/./b', 'NOT_FOUND'],
  ['/rest/v1/../b', 'NOT_FOUND'],
  ['/rest/v1/a/b/c/%zz', 'MALFORMED_TARGET'],
  ['/REST/v1/a/b', 'NOT_FOUND'],
  ['/%zz', 'MALFORMED_TARGET'],
  ['/rest/v1/a/b/%zz', 'MALFORMED_TARGET'],
])('the path %s: %s', (path, code) => expect(codeOf(() => decodePath(path))).toBe(code))

test.each([
  ['/rest/v1/desk/x', 'desk'],
  ['/rest/v1/desk', 'desk'],
  ['/rest/v1/a%20b/x/y/z', 'a b'],
  ['/rest/v1/%zz/x', undefined],
  ['/rest/v1/', ''],
  ['/else/v1/desk/x', undefined],
  ['/rest/v2/desk/x', undefined],
  ['desk', undefined],
])('the application of the path %s is %s', (path, application) =>
  expect(applicationOf(path)).toBe(application),
)

test('a target is cut at its first question mark', () => {
  expect(splitTarget('/a?b?c')).toEqual({ path: '/a', query: 'b?c' })
  expect(splitTarget('/a')).toEqual({ path: '/a', query: '' })
  expect(splitTarget('?a')).toEqual({ path: '', query: 'a' })
})

test('a target may be as long as the limit, and no longer', () => {
  expect(() => requireTarget('/234', 4)).not.toThrow()
  expect(() => requireTarget('/2345', 4)).toThrow('The request target is longer than 4 bytes.')
  expect(codeOf(() => requireTarget('/2345', 4))).toBe('TARGET_TOO_LONG')
})

test('a target with a raw # is malformed', () => {
  expect(() => requireTarget('/a#b', 9)).toThrow('The request target contains a raw #.')
  expect(codeOf(() => requireTarget('/a#b', 9))).toBe('MALFORMED_TARGET')
})

test('the message for a malformed path has the reason', () => {
  expect(() => decodePath('/rest/v1/%zz/b')).toThrow(
    'The request path is not valid percent-encoded UTF-8.',
  )
})

test.each([
  ['/a?b', '/a?b'],
  ['http://host/a', '/a'],
  ['HTTPS://user@host:1/a?b', '/a?b'],
  ['http://host', '/'],
  ['http://host?b', '/?b'],
  ['http://h/rest/v1/a/b?x=/', '/rest/v1/a/b?x=/'],
  ['http://h?x=/', '/?x=/'],
  ['*', '*'],
  ['*/', '*/'],
  ['ftp://host/a', 'ftp://host/a'],
  ['/a/http://host/b', '/a/http://host/b'],
])('the origin form of %s is %s', (target, origin) => expect(originForm(target)).toBe(origin))

test('decoding an encoded key is the identity for every part that a path can name', () => {
  const part = (parts: number) => text.filter((one) => unaddressable(one, parts) === undefined)
  const one = fc.tuple(part(1))
  const several = fc.array(part(2), { minLength: 2, maxLength: 4 })
  const property = fc.property(fc.oneof(one, several), (parts) => {
    expect(decodeKey(encodeKey(parts), parts.length)).toEqual(parts)
    expect(decodeKey(encodeKey(parts).replaceAll(',', '%2C'), parts.length)).toEqual(parts)
  })
  fc.assert(property, { numRuns: 1000 })
})

test('a key of one part may contain commas', () => {
  expect(decodeKey('a,b', 1)).toEqual(['a,b'])
})

test.each([
  ['a', 2],
  ['a,', 2],
  [',a', 2],
  ['a,b,c', 2],
  ['', 1],
  ['%zz', 1],
  ['1%252Ca', 2],
])('%s is not a key of %i parts', (raw, parts) => expect(decodeKey(raw, parts)).toBeUndefined())

test.each([
  ['', 1, 'keyEmpty'],
  ['', 2, 'keyEmpty'],
  ['.', 1, 'keyOfDots'],
  ['..', 1, 'keyOfDots'],
  ['...', 1, undefined],
  ['.', 2, undefined],
  ['a,b', 1, undefined],
  ['a,b', 2, 'keyWithComma'],
])('why "%s" among %i parts cannot be addressed: %s', (part, parts, reason) =>
  expect(unaddressable(part, parts)).toBe(reason),
)
