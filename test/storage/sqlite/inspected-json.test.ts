import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  json,
  openAccess,
  text,
} from '../../../src/entries/index.ts'
import type { StorageAdapter, StorageProblem } from '../../../src/entries/storage.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../../kit/databases.ts'

const notes = defineCollection({ key: 'id', fields: { id: text(), data: json() } })

function nested(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`
}

const accepted = ['"\\ud83d\\ude00"', '1e308', nested(32), '{"a": 1, "a": 2}', '"\\\\ud800"']
// SQLite finds them valid.
const rejected = ['"\\ud800"', '{"\\udc00": 1}', '"\\u0000"', '[1e999]', '-1e309', nested(33)]
const invalid = ['{a: 1}', '[1,]']

async function problemsOf(storage: StorageAdapter): Promise<readonly StorageProblem[]> {
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage,
    security: openAccess(),
  })
  try {
    return await service.inspect()
  } finally {
    await service.close()
  }
}

test.each([
  ['any table', '', [...rejected, ...invalid]],
  ['a table whose column has a constraint', ' CHECK (json_valid(data))', rejected],
])('JSON that requests reject is found in %s', async (_, constraint, wrong) => {
  const opened = (): StorageAdapter => {
    const handle = openHandle(drivers[0] as (typeof drivers)[number], ':memory:')
    handle.exec(`CREATE TABLE notes (id TEXT NOT NULL PRIMARY KEY, data TEXT${constraint})`)
    for (const [index, value] of [...wrong, ...accepted].entries())
      handle.exec(`INSERT INTO notes VALUES ('${100 + index}', '${value}')`)
    return sqliteStorage(handle)
  }
  const found = { kind: 'unfit', fields: ['data'], count: wrong.length }
  const examples = wrong.slice(0, 3).map((value, index) => `'${100 + index}': '${value}'`)
  expect(await problemsOf(opened())).toMatchObject([{ ...found, examples }])
  // Without statements of the database, the service reads all rows.
  const { inspect: _inspect, ...plain } = opened()
  expect(await problemsOf(plain)).toMatchObject([found])
})
