import { expect, test } from 'vitest'
import { tableText } from '../../../src/schema/sqlite/rebuild.ts'

test('a statement is split into columns, constraints and options, each as it is written', () => {
  const statement = `CREATE TABLE "a (b" (
    id INTEGER PRIMARY KEY, -- the key, (with a comma)
    "first, name" TEXT DEFAULT 'a, (b' COLLATE NOCASE,
    [last name] VARCHAR(40) CHECK ("last" IN ('x', 'y')),
    \`price\` DECIMAL(10, 2), /* a ) comment */
    'odd''one' TEXT,
    constraint positive CHECK (price > 0),
    FOREIGN KEY (id) REFERENCES other (id, more),
    "check" TEXT
  ) WITHOUT ROWID, STRICT`
  const text = tableText(statement)
  expect(text?.options).toBe('WITHOUT ROWID, STRICT')
  expect(text?.parts.map(({ column }) => column)).toEqual([
    'id',
    'first, name',
    'last name',
    'price',
    "odd'one",
    undefined,
    undefined,
    'check',
  ])
  expect(text?.parts[3]?.text).toBe('`price` DECIMAL(10, 2)')
})

test('a statement without a list of columns has no parts', () => {
  expect(tableText('CREATE TABLE a AS SELECT 1')).toBeUndefined()
})
