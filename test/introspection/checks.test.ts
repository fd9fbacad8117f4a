import { expect, test } from 'vitest'
import { readChecks } from '../../src/schema/sqlite/checks.ts'

const allowed = (check: string) =>
  Object.fromEntries(readChecks(`CREATE TABLE t (a TEXT, "b c" TEXT, ${check})`, ['a', 'b c']))

test.each([
  ["CHECK (a IN ('x', 'y'))", { a: { allowed: ['x', 'y'] } }],
  ["check(A in('it''s'))", { a: { allowed: ["it's"] } }],
  ['CHECK ("b c" IN (1, -2, 2.5))', { 'b c': { allowed: [1, -2, 2.5] } }],
  ['CHECK ([b c] IN ("x", "y"))', { 'b c': { allowed: ['x', 'y'] } }],
  ["CHECK ((`a` IN ('x')))", { a: { allowed: ['x'] } }],
  ["CHECK (a IS NULL OR a IN ('x'))", { a: { allowed: ['x'] } }],
  ["CHECK (a IN ('x') AND length(a) < 3)", { a: { allowed: ['x'] } }],
  ["CHECK (a IN ('x') /* or a */ -- )\n)", { a: { allowed: ['x'] } }],
  ['CHECK (json_valid(a))', { a: { isJson: true } }],
  ['CHECK ((JSON_VALID("b c") OR "b c" IS NULL))', { 'b c': { isJson: true } }],
])('%s is read', (check, expected) => {
  expect(allowed(check)).toEqual(expected)
})

test.each([
  "CHECK (a IN ('x') OR length(a) = 9)",
  "CHECK (a NOT IN ('x'))",
  "CHECK (lower(a) IN ('x'))",
  'CHECK (a IN ("b c"))',
  'CHECK (a IN (SELECT 1))',
  'CHECK (a IN (1 + 1))',
  'CHECK (a IN ())',
  // For any other value, the term is null, which a CHECK accepts.
  'CHECK ([b c] IN ("x", NULL))',
  "CHECK (a IN (NULL, 'x') OR a IS NULL)",
  'CHECK (a IN (null))',
  "CHECK (a IN ('x') = 0)",
  "CHECK (d IN ('x'))",
  "DEFAULT 'CHECK (a IN (1))'",
  'CHECK (json_valid(a) = 0)',
])('%s decides nothing', (check) => {
  expect(allowed(check)).toEqual({})
})
