import { expect, test } from 'vitest'
import {
  mistakesText,
  PackageError,
  quotedName,
} from '../../../src/deployment/package/package-error.ts'

test('the error of a package names the invalid file, or the package as a whole', () => {
  const cause = new Error('why')
  const own = new PackageError('a\n"b"', 'is damaged', { cause })
  expect(own).toMatchObject({ name: 'PackageError', file: 'a\n"b"', cause })
  expect(own.message).toBe('a\\n\\"b\\" is damaged.')
  const whole = new PackageError(null, 'is empty')
  expect(whole).toMatchObject({
    name: 'PackageError',
    file: null,
    message: 'The package is empty.',
  })
  const long = new PackageError('x'.repeat(81), 'is damaged')
  expect(long.message).toBe(`${'x'.repeat(79)}… is damaged.`)
})

test.each([
  ['abcd', 'abcd'],
  ['abcde', 'abc…'],
  ['ab\ud83d\ude00', 'ab\ud83d\ude00'],
  ['ab\ud83d\ude00e', 'ab\ufffd…'],
  ['a"\\', 'a\\"\\\\'],
  ['\u009b\n', '\\u009b\\n'],
])('a message quotes the file name %j in four characters as %j', (name, quoted) => {
  expect(quotedName(name, 4)).toBe(quoted)
})

function mistakes(count: number, advice: string) {
  return Array.from({ length: count }, (_, index) => ({ place: `p${index}`, advice }))
}

test('mistakes are one line, of at most ten mistakes', () => {
  expect(mistakesText([])).toBe('')
  expect(mistakesText(mistakes(2, 'is wrong'))).toBe('p0: is wrong; p1: is wrong')
  const ten = mistakesText(mistakes(10, 'x'))
  expect(ten.split('; ')).toHaveLength(10)
  expect(mistakesText(mistakes(11, 'x'))).toBe(`${ten}; and 1 more`)
  expect(mistakesText(mistakes(15, 'x'))).toBe(`${ten}; and 5 more`)
})

test('a mistake is cut at 300 characters, and has no control characters', () => {
  expect(mistakesText(mistakes(1, 'x'.repeat(296)))).toBe(`p0: ${'x'.repeat(296)}`)
  expect(mistakesText(mistakes(1, 'x'.repeat(297)))).toBe(`p0: ${'x'.repeat(295)}…`)
  expect(mistakesText(mistakes(1, 'a\nb\u009b'))).toBe('p0: a\\u000ab\\u009b')
})
