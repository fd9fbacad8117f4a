import { describe, expect, test } from 'vitest'
import { createService, defineCollection, openAccess, system, text } from '../../../src/index.ts'
import { toFetchHandler } from '../../../src/http/fetch.ts'
import { sqliteStorage } from '../../../src/storage/sqlite.ts'
import { drivers, openHandle } from '../../kit/databases.ts'

describe.each(drivers)('%s: a key of another program', (driver) => {
  const keys = [`x'c3a9'`, `'a' || char(0) || 'b'`, `cast(x'61ff62' as text)`]

  test.each([
    ['TEXT', [...keys, 'null']],
    ['TEXT NOT NULL', keys],
  ])('that does not fit is found in a column %s', async (type, odd) => {
    const handle = openHandle(driver, ':memory:')
    handle.exec(`CREATE TABLE notes (id ${type} PRIMARY KEY, label TEXT)`)
    const notes = defineCollection({ key: 'id', fields: { id: text(), label: text() } })
    const service = createService({
      applications: { shop: { collections: { notes } } },
      storage: sqliteStorage(handle),
      security: openAccess(),
      report: () => undefined,
    })
    const handler = toFetchHandler(service)
    const all = service.as(system).collection('shop', 'notes')
    for (const key of odd) {
      handle.exec(`DELETE FROM notes; INSERT INTO notes VALUES ('tea', 'x'), (${key}, 'x')`)
      await expect(all.filter()).rejects.toMatchObject({ kind: 'unfit', fields: ['id'] })
      const { status } = await handler(new Request('http://localhost/rest/v1/shop/notes'))
      expect(status).toBe(500)
      expect(await all.get('tea')).toEqual({ id: 'tea', label: 'x' })
    }
    await service.close()
    handle.close()
  })
})
