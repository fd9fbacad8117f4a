import { expect, test } from 'vitest'
import { z } from 'zod/mini'
import { checkCall, flag, line, minutes, priority } from '../../src/security/check-call.ts'

const face = '\u{1F600}'

test.each([
  ['', false],
  ['x', true],
  ['x'.repeat(1000), true],
  ['x'.repeat(1001), false],
  [face.repeat(1000), true],
  [face.repeat(1001), false],
  ['two\nlines', false],
  ['\u0085', false],
  ['\ud800', false],
  [7, false],
])('a line of 1 to 1000 characters, in code points: %#', (value, is) => {
  expect(line(1, 1000).safeParse(value).success).toBe(is)
})

test('the message for a shape has its rule', () => {
  const messageOf = (shape: z.ZodMiniType) => shape.safeParse(null).error?.issues[0]?.message
  expect([line(1, 5), flag, priority, minutes(1)].map(messageOf)).toEqual([
    'must be a string of 1 to 5 characters without control characters',
    'must be true or false',
    'must be an integer',
    'must be a whole number of minutes, at least 1',
  ])
})

test.each([
  [flag, [true, false], ['true', 0]],
  [priority, [0, -5], [0.5, '1']],
  [minutes(0), [0, 1], [-1, 0.5, '1']],
  [minutes(1), [1, 2], [0, 1.5]],
])('a shape accepts its values only: %#', (shape, valid, wrong) => {
  const results = [...valid, ...wrong].map((value) => shape.safeParse(value).success)
  expect(results).toEqual([...valid.map(() => true), ...wrong.map(() => false)])
})

test('the argument of a call is returned with its defaults, or each mistake is listed', () => {
  const shape = z.strictObject({ user: line(1, 5), count: z._default(minutes(0), 7) })
  expect(checkCall('it.add', shape, { user: 'ann' })).toEqual({ user: 'ann', count: 7 })
  const call = () => checkCall('it.add', shape, { user: '', conut: 1 })
  expect(call).toThrow(TypeError)
  expect(call).toThrow(
    /^it\.add\.user must be a string of 1 to 5 .*\nit\.add\.conut is not an option; did you mean count\?$/,
  )
})
