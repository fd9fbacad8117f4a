import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasLengthWithin } from '../../src/protocol/code-points.ts'

const face = '\u{1F600}'

test.each([
  ['', 0, 0, true],
  ['', 1, 5, false],
  ['abc', 3, 3, true],
  ['abc', 4, 9, false],
  ['abc', 0, 2, false],
  [face, 1, 1, true],
  [face, 2, 9, false],
  [face.repeat(3), 3, 3, true],
  [face.repeat(3), 4, 9, false],
  [face.repeat(3), 0, 2, false],
  [`a${face}`, 2, 2, true],
  [`a${face}`, 0, 1, false],
  ['\ud800', 1, 1, true],
])('whether %j has %i to %i characters: %s', (text, minimum, maximum, is) => {
  expect(hasLengthWithin(text, minimum, maximum)).toBe(is)
})

test('the length is the number of code points, for any bounds', () => {
  const length = fc.nat(12)
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 12 }), length, length, (text, min, max) => {
      const count = Array.from(text).length
      expect(hasLengthWithin(text, min, max)).toBe(count >= min && count <= max)
    }),
  )
})
