import { join } from 'node:path'
import { expect, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { defineCollection, integer, text } from '../../../src/entries/index.ts'
import { diffFile } from '../../../src/schema/sqlite/file-schema.ts'
import type { SqliteHandle } from '../../../src/entries/sqlite.ts'
import type { SchemaChangeKind } from '../../../src/schema/changes.ts'
import { drivers, openHandle } from '../../kit/databases.ts'
import { temporaryFolder } from '../../kit/storages.ts'

/** How each driver allows a script to change sqlite_schema. */
interface Unprotected {
  unsafeMode?(): void
  enableDefensive?(active: boolean): void
}

const withoutIndex = 'CREATE TABLE titles (id INTEGER PRIMARY KEY, title TEXT, note TEXT)'

/** Creates a file whose statements then have, in place of a known name, another one. */
function create(statements: string, [known, other]: readonly [string, string]): string {
  const file = join(temporaryFolder(), 'app.db')
  const handle: SqliteHandle & Unprotected = openHandle(drivers[0] ?? 'node:sqlite', file)
  handle.unsafeMode?.()
  handle.enableDefensive?.(false)
  handle.exec(`${statements};
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, ${quotedText(known)}, ${quotedText(other)})`)
  handle.close()
  return file
}

function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

const collation = ['NOCASE', 'NATSORT'] as const
const missingCollation = 'no such collation sequence: NATSORT'
const required = { note: text({ required: true }) }

test.each([
  {
    what: 'the collation of a column',
    statements:
      'CREATE TABLE titles (id INTEGER PRIMARY KEY, title TEXT COLLATE NOCASE, note TEXT)',
    reason: missingCollation,
  },
  {
    what: 'the collation of an index',
    statements: `${withoutIndex}; CREATE INDEX by_title ON titles (title COLLATE NOCASE)`,
    reason: missingCollation,
  },
  {
    what: 'the collation of an index of a table that is renamed',
    statements: `${withoutIndex.replace('titles', 'old')}; CREATE INDEX by_title ON old (title COLLATE NOCASE)`,
    renamedFrom: 'old',
    reason: missingCollation,
  },
  {
    what: 'the collation of an index of a table with a column that is redeclared',
    statements: `${withoutIndex.replace('note TEXT', 'note INTEGER')}; CREATE INDEX by_title ON titles (title COLLATE NOCASE)`,
    note: text(),
    reason: missingCollation,
  },
  {
    what: 'an index with a text in double quotes',
    statements: `${withoutIndex}; CREATE INDEX by_title ON titles (title) WHERE title <> 'none'`,
    change: ["'none'", '"none"'] as const,
    reason: 'no such column: "none"',
  },
])('no copy of a table loses $what', (scene) => {
  const { statements, change = collation, note = required.note, reason, renamedFrom } = scene
  const titles = defineCollection({
    key: 'id',
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
    fields: { id: integer(), title: text(), note },
  })
  const collections = publishApplications({ app: { collections: { titles } } })
  const kinds = new Set<SchemaChangeKind>(['add', 'rename', 'rebuild', 'require'])
  const file = create(statements, change)
  const { changes, mistakes } = diffFile(file, collections, kinds)
  expect(changes.filter(({ kind }) => kind !== 'rename')).toEqual([])
  const [mistake] = mistakes
  expect(mistake).toMatch(/ copies the table\. The copy would not be complete: /)
  expect(mistake).toContain(reason)
})

test('a table that has nothing unknown is copied beside one that has', () => {
  const file = create(
    `${withoutIndex}; CREATE TABLE others (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE)`,
    collation,
  )
  const titles = defineCollection({
    key: 'id',
    fields: { id: integer(), title: text(), ...required },
  })
  const collections = publishApplications({ app: { collections: { titles } } })
  const { changes, mistakes } = diffFile(file, collections, new Set(['require']))
  expect(changes).toMatchObject([{ kind: 'require', table: 'titles' }])
  expect(mistakes).toEqual([])
})
