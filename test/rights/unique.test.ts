import { expect, test } from 'vitest'
import { createService, defineCollection, integer, text } from '../../src/entries/index.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { call } from '../kit/stage.ts'
import { visitor, visitors } from '../kit/visitors.ts'

const closed = { readableBy: ['Auditor'], writableBy: ['Auditor'] } as const
const cards = defineCollection(
  {
    key: 'id',
    fields: { id: integer(), name: text(), secret: text({ ...closed, column: 'hidden' }) },
  },
  { events: { Insert: { before: ({ item }) => void (item.secret = 'same') } } },
)

const clerk = visitor('carl')
const auditor = visitor('ada', { roles: 'Auditor' })

test.each([
  ['of an unseen column', 'hidden'],
  ['of a seen column and an unseen one', 'name, hidden'],
  ['of an unseen column and a seen one', 'hidden, name'],
])('a unique index %s does not name the unseen field', async (_what, columns) => {
  const [driver = 'better-sqlite3'] = drivers
  const handle = openHandle(driver, ':memory:')
  const service = createService({
    applications: { app: { collections: { cards } } },
    storage: sqliteStorage(handle, { ensureSchema: true }),
    security: visitors,
  })
  await service.ready()
  handle.exec(`create unique index once on cards (${columns})`)
  const insert = (who: typeof clerk, id: number) =>
    call(service, { who, method: 'POST', path: '/cards', body: { id, name: 'x' } })
  expect((await insert(clerk, 1)).status).toBe(200)
  const rejected = await insert(clerk, 2)
  expect(rejected.status).toBe(400)
  expect(rejected.text).not.toMatch(/secret|hidden|same/)
  expect(rejected.body.validations).toEqual([
    { message: 'A value that you cannot see does not allow this.', severity: 'error' },
  ])
  expect((await insert(auditor, 2)).text).toContain('secret')
  if (columns === 'name, hidden') {
    const message = 'Another item of cards has this name, secret.'
    expect((await insert(auditor, 2)).body.validations).toEqual([
      { message, severity: 'error', field: 'name' },
      { message, severity: 'error', field: 'secret' },
    ])
  }
  await service.close()
  handle.close()
})

test.each([
  ['NOT NULL', 'hidden integer not null'],
  ['CHECK', 'hidden integer check (hidden > 5)'],
  ['CHECK with a name', 'hidden integer, constraint large check (hidden > 5 or name is null)'],
  ['foreign key', 'hidden integer references others (id)'],
])('a %s of an unseen column does not name its field', async (what, column) => {
  const [driver = 'better-sqlite3'] = drivers
  const handle = openHandle(driver, ':memory:')
  handle.exec(`create table others (id integer primary key) strict`)
  handle.exec(`create table boxes (id integer primary key, name text, ${column}) strict`)
  const secret = integer({
    ...closed,
    column: 'hidden',
    ...(what !== 'NOT NULL' && { default: 1 }),
  })
  const fields = { id: integer(), name: text(), secret }
  const service = createService({
    applications: { app: { collections: { boxes: defineCollection({ key: 'id', fields }) } } },
    storage: sqliteStorage(handle),
    security: visitors,
  })
  const insert = (who: typeof clerk) =>
    call(service, { who, method: 'POST', path: '/boxes', body: { id: 2, name: 'x' } })
  const rejected = await insert(clerk)
  expect(rejected.status, rejected.text).toBe(400)
  expect(rejected.body.validations).toEqual([
    { message: 'A value that you cannot see does not allow this.', severity: 'error' },
  ])
  expect((await insert(auditor)).text).toContain('secret')
  await service.close()
  handle.close()
})
