import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { withCommandUse } from '../../src/command-use.ts'
import {
  createService,
  defineCollection,
  integer,
  system,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { mount } from '../../src/entries/index.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { ownDatabases } from '../kit/own-databases.ts'
import { temporaryFolder } from '../kit/storages.ts'

interface Database {
  open(options: { readonly ensureSchema: boolean | 'columns' }): StorageAdapter
}

const databases = [
  {
    name: 'SQLite',
    missing: undefined,
    create: (): Promise<Database> => {
      const file = join(temporaryFolder(), 'data.db')
      return Promise.resolve({ open: (options) => sqliteStorage(file, options) })
    },
  },
  {
    name: 'SQLite, mounted twice',
    missing: undefined,
    create: (): Promise<Database> => {
      const folder = temporaryFolder()
      return Promise.resolve({
        open: (options) =>
          mount({
            'rowgate-security': sqliteStorage(join(folder, 'keys.db'), options),
            '*': sqliteStorage(join(folder, 'data.db'), options),
          }),
      })
    },
  },
  ...ownDatabases.map(({ name, missing, create }) => ({
    name,
    missing,
    create: async (): Promise<Database> => {
      const database = await create()
      onTestFinished(() => database.drop())
      return database
    },
  })),
]

const isbn = text({ maxLength: 20 })
const books = defineCollection({ key: 'isbn', fields: { isbn } })
const more = defineCollection({
  key: 'isbn',
  index: [['pages']],
  fields: { isbn, pages: integer() },
})

/** Opens a service as a command does, or as a server. */
async function openService(
  { open }: Database,
  use: 'read' | 'write' | 'serve',
  {
    collection = books,
    ensureSchema = true,
  }: { collection?: CollectionDefinition; ensureSchema?: boolean | 'columns' } = {},
) {
  const create = () =>
    Promise.resolve(
      createService({
        applications: { library: { collections: { books: collection } } },
        storage: open({ ensureSchema }),
        security: apiKeys({ name: 'API Key' }),
      }),
    )
  const service = await (use === 'serve' ? create() : withCommandUse(use, create))
  onTestFinished(() => service.close())
  return service
}

describe.each(databases)('on $name', ({ missing, create }) => {
  test.skipIf(missing !== undefined)(
    'tables that are missing are empty, and stay missing',
    async () => {
      const database = await create()
      const reading = await openService(database, 'read')
      await reading.ready()
      expect(await reading.users.list()).toEqual([])
      expect(await reading.keys.list()).toEqual([])
      expect(await reading.users.get('maria')).toBeUndefined()
      expect(await reading.inspect()).toEqual([])
      const { items } = await reading.as(system).collection('library', 'books').filter()
      expect(items).toEqual([])
      expect(await reading.as(system).collection('library', 'books').count()).toBe(0)
      await reading.close()
      // Without `ensureSchema`, the tables would have to exist.
      const strict = await openService(database, 'serve', { ensureSchema: false })
      await expect(strict.ready()).rejects.toThrow(/does not exist/)
    },
  )

  test.skipIf(missing !== undefined)(
    'without ensureSchema, missing tables are a mistake',
    async () => {
      const reading = await openService(await create(), 'read', { ensureSchema: false })
      await expect(reading.ready()).rejects.toThrow(/does not exist/)
    },
  )

  test.skipIf(missing !== undefined)('rows are read, and every write rejects', async () => {
    const database = await create()
    const service = await openService(database, 'serve')
    await service.users.add({ user: 'maria', roles: ['Sales'] })
    await service.keys.create({ user: 'maria' })
    await service.as(system).collection('library', 'books').insert({ isbn: '1' })
    await service.close()
    const reading = await openService(database, 'read')
    await reading.ready()
    expect(await reading.users.list()).toMatchObject([{ user: 'maria' }])
    expect(await reading.keys.list()).toMatchObject([{ user: 'maria' }])
    expect(await reading.inspect()).toEqual([])
    // Nothing is written by an `ensure` of what exists.
    expect(await reading.users.ensure({ user: 'maria' })).toMatchObject({ user: 'maria' })
    const rejected = /only reads/
    await expect(reading.users.add({ user: 'nino' })).rejects.toThrow(rejected)
    await expect(reading.users.change('maria', { roles: [] })).rejects.toThrow(rejected)
    await expect(reading.users.remove('maria')).rejects.toThrow(rejected)
    await expect(reading.keys.create({ user: 'maria' })).rejects.toThrow(rejected)
    await reading.close()
    const again = await openService(database, 'serve')
    expect(await again.users.list()).toMatchObject([{ user: 'maria', roles: ['Sales'] }])
    expect(await again.keys.list()).toHaveLength(1)
  })

  test.skipIf(missing !== undefined)(
    'columns and indexes that are missing are not added',
    async () => {
      const database = await create()
      const service = await openService(database, 'serve')
      await service.users.add({ user: 'maria' })
      await service.close()
      const reading = await openService(database, 'read', {
        collection: more,
        ensureSchema: 'columns',
      })
      await reading.ready()
      expect(await reading.users.list()).toMatchObject([{ user: 'maria' }])
      expect(await reading.inspect()).toMatchObject([
        { kind: 'table', message: expect.stringContaining('pages') as string },
      ])
      await reading.close()
      const strict = await openService(database, 'serve', { collection: more, ensureSchema: false })
      await expect(strict.ready()).rejects.toThrow(/pages/)
    },
  )

  test.skipIf(missing !== undefined)('a command that writes creates what is missing', async () => {
    const database = await create()
    const writing = await openService(database, 'write')
    await writing.users.add({ user: 'maria' })
    await writing.close()
    const strict = await openService(database, 'serve', { ensureSchema: false })
    expect(await strict.users.list()).toMatchObject([{ user: 'maria' }])
  })
})

test('a SQLite file that does not exist is not created, and nothing stays beside one that exists', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'data.db')
  const database = { open: () => sqliteStorage(file, { ensureSchema: true }) }
  const absent = await openService(database, 'read')
  await absent.ready()
  await absent.close()
  expect(existsSync(file)).toBe(false)
  const service = await openService(database, 'serve')
  await service.close()
  const reading = await openService(database, 'read')
  await reading.ready()
  await reading.close()
  expect(readdirSync(folder)).toEqual(['data.db'])
})

test('a command of one copy of the package is known to the services of another one', async () => {
  await withCommandUse('read', () => {
    const place = Symbol.for('rowgate.commandUse')
    expect((globalThis as Record<symbol, unknown>)[place]).toBe('read')
    return Promise.resolve()
  })
  expect((globalThis as Record<symbol, unknown>)[Symbol.for('rowgate.commandUse')]).toBeUndefined()
})
