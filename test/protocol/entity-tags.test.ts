import { expect, test } from 'vitest'
import { decodeIfMatch } from '../../src/protocol/entity-tags.ts'

test.each([
  ['"a"', ['a']],
  ['""', ['']],
  ['"a","b"', ['a', 'b']],
  [' "a" ,\t"b" ', ['a', 'b']],
  [',"a",,"b",', ['a', 'b']],
  ['"a,b", "c"', ['a,b', 'c']],
  ['"W/", "*"', ['W/', '*']],
  ['"!#~\x80\xff"', ['!#~\x80\xff']],
  ['"a", "a"', ['a']],
])('the tags of %j are %j', (value, tags) => {
  expect(Array.from(decodeIfMatch(value))).toEqual(tags)
})

test.each(['*', ' * ', '\t*'])('%j is any tag', (value) => {
  expect(decodeIfMatch(value)).toBe('*')
})

test('a header lists at most 100 tags', () => {
  const list = (count: number) => Array.from({ length: count }, (_, index) => `"${index}"`).join()
  expect(decodeIfMatch(list(100))).toHaveProperty('size', 100)
  expect(() => decodeIfMatch(list(101))).toThrow('it can list at most 100 tags')
  expect(() => decodeIfMatch('"a",'.repeat(101))).toThrow('it can list at most 100 tags')
})

test.each([
  '',
  ' ',
  ',',
  '*,*',
  '* "a"',
  'a',
  '"',
  '"a',
  'a"',
  '"a""b"',
  '"a";',
  '"\u0100"',
  '"\x7f"',
  "'a'",
])('%j is malformed', (value) => {
  expect(() => decodeIfMatch(value)).toThrow(
    expect.objectContaining({ code: 'MALFORMED_HEADER', status: 400 }),
  )
})
