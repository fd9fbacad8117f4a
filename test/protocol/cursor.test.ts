import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cursorTooLong, decodeCursor, encodeCursor } from '../../src/protocol/cursor.ts'

const value = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.integer(),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map((number) => number + 0),
  fc.boolean(),
  fc.constant(null),
)
const cursor = fc.record({ digest: fc.string(), values: fc.array(value, { maxLength: 5 }) })

test('a cursor is decoded to what was encoded', () => {
  fc.assert(
    fc.property(cursor, (given) => {
      const text = encodeCursor(given)
      expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(decodeCursor(text)).toEqual(given)
    }),
  )
})

test('a changed text is another cursor or none', () => {
  const characters = fc.constantFrom(...Array.from('ABCyz019_-=+/.% '))
  fc.assert(
    fc.property(cursor, fc.nat(), characters, (given, at, character) => {
      const text = encodeCursor(given)
      const place = at % text.length
      const changed = text.slice(0, place) + character + text.slice(place + 1)
      fc.pre(changed !== text)
      expect(decodeCursor(changed)).not.toEqual(given)
    }),
    { numRuns: 500 },
  )
})

const encoded = (text: string): string => Buffer.from(text).toString('base64url')

test.each([
  ['', 'no text'],
  ['%', 'another character'],
  [encoded('{}'), 'not a list'],
  [encoded('[]'), 'no digest'],
  [encoded('[1]'), 'a digest that is not a string'],
  [encoded('["a",[]]'), 'a list as a value'],
  [encoded('["a",{}]'), 'an object as a value'],
  [encoded('["a", 1]'), 'white space'],
  [encoded('["a",1.0]'), 'another form of a number'],
  [encoded('["a",1e999]'), 'a number that is not finite'],
  [`${encoded('["a",1]')}=`, 'padding'],
  [Buffer.from([0x22, 0xff, 0x22]).toString('base64url'), 'invalid UTF-8'],
  [cursorTooLong, 'the mark of a long cursor'],
  [encoded(JSON.stringify(['a', 'x'.repeat(2_000)])), 'more than 2,000 characters'],
])('%s is no cursor: %s', (text) => {
  expect(decodeCursor(text)).toBeUndefined()
})

test('a cursor that would be longer than 2,000 characters has a mark instead', () => {
  const withLength = (length: number) => encodeCursor({ digest: 'a', values: ['x'.repeat(length)] })
  expect(withLength(1_492).length).toBe(2_000)
  expect(withLength(1_493)).toBe(cursorTooLong)
})
