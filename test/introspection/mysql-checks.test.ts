import { expect, test } from 'vitest'
import { allowedBy } from '../../src/schema/mysql/published-fields.ts'

test.each([
  ["`a` in ('open','it\\'s','b\\\\c')", { column: 'a', values: ['open', "it's", 'b\\c'] }],
  ["`a` in ('it''s',',',')')", { column: 'a', values: ["it's", ',', ')'] }],
  ["(`a` in (_utf8mb4'x',_latin1'y'))", { column: 'a', values: ['x', 'y'] }],
  ['`b``c` in (1,-2,2.5)', { column: 'b`c', values: [1, -2, 2.5] }],
  ["`a` in ('x') or `a` is null", { column: 'a', values: ['x'] }],
  ["`a` = 'x'", { column: 'a', values: ['x'] }],
  ["((`a` in (_utf8mb4'x',_utf8mb4'y')) or (`a` is null))", { column: 'a', values: ['x', 'y'] }],
  ['(`a` in (1,-(2),-(2.5)))', { column: 'a', values: [1, -2, -2.5] }],
])('%s is read', (check, expected) => {
  expect(allowedBy(check)).toEqual(expected)
})

test.each([
  "`a` in ('x','????')",
  "`a` in ('x') or `b` is null",
  "((`a` in (_utf8mb4'x')) or (`b` is null))",
  "((`a` in (_utf8mb4'x')) or (`a` = _utf8mb4'y'))",
  '(`a` in (-(`b`)))',
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
  expect(allowedBy(check)).toBeUndefined()
})
