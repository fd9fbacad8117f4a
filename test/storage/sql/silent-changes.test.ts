import { beforeEach, describe, expect, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { defineCollection, integer } from '../../../src/entries/index.ts'
import { fastTime } from '../../kit/fast-time.ts'
import { proxiedDatabases, type ProxiedDatabase } from '../../kit/proxied-databases.ts'

const notes = defineCollection({ key: 'id', fields: { id: integer(), size: integer() } })
const published = publishApplications({ app: { collections: { notes } } })

// A change of the schema may take any time, but its server responds to others meanwhile.
describe.each(proxiedDatabases)('ensureSchema on $name', ({ missing, open }) => {
  let database: ProxiedDatabase
  beforeEach(async (context) => {
    if (missing !== undefined) context.skip(missing)
    database = await open()
  })
  const unavailable = { name: 'StorageError', kind: 'unavailable' }

  test.each([/create table/i, /get_lock|pg_advisory_xact_lock/])(
    'ends if the server is silent from %s on, and creates the table when it responds again',
    async (pattern) => {
      fastTime(20)
      const storage = database.through({ ensureSchema: true })
      void database.network.silenceAt(pattern)
      const began = performance.now()
      await expect(storage.open(published)).rejects.toMatchObject(unavailable)
      expect(performance.now() - began).toBeLessThan(20_000)
      database.network.admit()
      const opens = async (): Promise<unknown> => {
        try {
          await storage.open(published)
          return 'opened'
        } catch (error) {
          return error
        }
      }
      await expect.poll(opens).toBe('opened')
      await storage.close()
    },
  )

  test('waits for a change that takes long while the server responds', async () => {
    // A busy server responds within half a second to one of three checks.
    fastTime(10)
    await database.run('create table notes (id bigint primary key)')
    const storage = database.through({ ensureSchema: 'columns', lockTimeout: 20_000 })
    const unlock = await database.lock('notes')
    const opening = storage.open(published)
    // 50 seconds of the library.
    setTimeout(() => void unlock(), 5_000)
    await opening
    await storage.close()
  })
})
