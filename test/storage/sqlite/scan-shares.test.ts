import { describe, expect, onTestFinished, test } from 'vitest'
import { createTestClient } from '../../../src/entries/testing.ts'
import { createService, defineCollection, integer, text } from '../../../src/entries/index.ts'
import { httpBasic } from '../../../src/entries/security.ts'
import { sqliteStorage, type SqliteDriver } from '../../../src/entries/sqlite.ts'
import { cheapCost } from '../../kit/keys.ts'
import { drivers, openHandle } from '../../kit/databases.ts'
import { temporaryFolder } from '../../kit/storages.ts'

const long = defineCollection({
  key: 'id',
  fields: { id: integer(), name: text() },
  publishes: ['Filter'],
})
// A search in it takes a few hundred milliseconds.
const view = `CREATE VIEW long (id, name) AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL
  SELECT i + 1 FROM n LIMIT 300000) SELECT CAST(i AS INTEGER), CAST('x' || i AS TEXT) FROM n`

/** A service whose reads of large tables wait in a queue of four, and what its users get. */
async function openLong(driver: SqliteDriver) {
  const path = `${temporaryFolder()}/a.db`
  const handle = openHandle(driver, path)
  handle.exec(view)
  handle.close()
  const service = createService({
    applications: { app: { collections: { long } } },
    storage: sqliteStorage(path, { driver, ensureSchema: true, scanRows: 0, scanQueue: 4 }),
    security: httpBasic({ cost: cheapCost }),
    cache: false,
    report: false,
  })
  onTestFinished(() => service.close())
  const ended: string[] = []
  const search = async (user: string, query: string): Promise<string> => {
    const authorization = `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`
    const client = createTestClient(service, { headers: { authorization } })
    const { status } = await client.get('/app/long', { query: `$q=${query}` })
    if (status === 200) ended.push(user)
    return `${user} ${status}`
  }
  for (const user of ['anna', 'bert']) {
    await service.users.add({ user, password: user })
    // From now on, the password needs no hash.
    await search(user, 'x299999')
  }
  ended.length = 0
  return { search, ended }
}

const inTurn = async (): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, 20))
}

describe.each(drivers)('%s: scans', (driver) => {
  test('of a caller that fills the queue leave places for another one, and take turns', async () => {
    const { search, ended } = await openLong(driver)
    const flood = Array.from({ length: 7 }, (_, index) => search('anna', `none${index}`))
    await inTurn()
    const others = Array.from({ length: 3 }, (_, index) => search('bert', `other${index}`))
    const [ofAnna, ofBert] = [await Promise.all(flood), await Promise.all(others)]
    // One of Anna's runs and four wait; then two of them give their places to Bert, who has as many as she then.
    expect(ofAnna.filter((one) => one === 'anna 200')).toHaveLength(3)
    expect(ofAnna.filter((one) => one === 'anna 503')).toHaveLength(4)
    expect(ofBert).toEqual(['bert 200', 'bert 200', 'bert 503'])
    expect(ended).toEqual(['anna', 'anna', 'bert', 'anna', 'bert'])
  }, 30_000)

  test('of one caller alone may use the whole queue', async () => {
    const { search } = await openLong(driver)
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, index) => search('anna', `${index}y`)),
    )
    expect(all.filter((one) => one === 'anna 200')).toHaveLength(5)
  }, 30_000)
})
