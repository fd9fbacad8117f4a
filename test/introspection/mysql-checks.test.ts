import { expect, test } from 'vitest'
import { allowedValues } from '../../src/introspection/mysql/checks.ts'

const allowed = (check: string) => Object.fromEntries(allowedValues([check]))

test.each([
  ["`a` in ('open','it\\'s','b\\\\c')", { a: ['open', "it's", 'b\\c'] }],
  ["`a` in ('it''s',',',')')", { a: ["it's", ',', ')'] }],
  ["(`a` in (_utf8mb4'x',_latin1'y'))", { a: ['x', 'y'] }],
  ['`b``c` in (1,-2,2.5)', { 'b`c': [1, -2, 2.5] }],
  ["`a` in ('x') or `a` is null", { a: ['x'] }],
  ["`a` = 'x'", { a: ['x'] }],
])('%s is read', (check, expected) => {
  expect(allowed(check)).toEqual(expected)
})

test.each([
  "`a` in ('x') or `b` is null",
  "`a` in ('x') or `a` = 'y'",
  "`a` in ('x') and `b` in ('y')",
  "`a` in ('x',NULL)",
  "`a` not in ('x')",
  "lcase(`a`) in ('x')",
  '`a` in (1 + 1)',
  '`a` in (`b`)',
  '`a` = `b`',
  '`a` > 1',
  'json_valid(`a`)',
])('%s decides nothing', (check) => {
  expect(allowed(check)).toEqual({})
})
