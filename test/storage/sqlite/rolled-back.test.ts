import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  system,
  text,
  type CollectionBehaviour,
} from '../../../src/entries/index.ts'
import { sqliteStorage, type SqliteHandle } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../../kit/databases.ts'

const fields = { id: integer(), words: text() }
type Behaviour = CollectionBehaviour<{ key: 'id'; fields: typeof fields }>

const table = 'CREATE TABLE notes (id INTEGER PRIMARY KEY, words TEXT);'
const undoing = `${table} CREATE TRIGGER undo BEFORE INSERT ON notes WHEN new.words = 'bad'
  BEGIN SELECT RAISE(ROLLBACK, 'bad words'); END;`

describe.each(drivers)('%s: a transaction that SQLite rolls back by itself', (driver) => {
  async function open(sql: string, behaviour: Behaviour = {}) {
    const handle = openHandle(driver, ':memory:')
    handle.exec(sql)
    const notes = defineCollection({ key: 'id', fields }, behaviour)
    const service = createService({
      applications: { desk: { collections: { notes } } },
      storage: sqliteStorage(handle),
      security: openAccess(),
      report: () => undefined,
    })
    await service.ready()
    onTestFinished(async () => {
      await service.close()
      closeOnce(handle)
    })
    return {
      handle,
      all: service.as(system),
      notes: service.as(system).collection('desk', 'notes'),
    }
  }

  test('rejects its save, and no other one', async () => {
    const { notes } = await open(undoing)
    for (const round of [0, 10]) {
      const words = ['good', 'good', 'bad', 'good']
      const saves = words.map((word, index) => notes.insert({ id: round + index, words: word }))
      const rejected = (await Promise.all(saves)).map((save) => save.rejected)
      expect(rejected).toEqual([false, false, true, false])
    }
    expect(await notes.count()).toBe(6)
  })

  test('names what the trigger says in no response', async () => {
    const { notes } = await open(undoing)
    expect(await notes.insert({ id: 1, words: 'bad' })).toMatchObject({
      rejected: true,
      validations: [{ message: 'A value is not accepted by the database.', severity: 'error' }],
    })
  })

  test('fails, with nothing stored, if code goes on after the rejection', async () => {
    const { all, notes } = await open(undoing)
    const failed = all.transaction(async ({ collection }) => {
      await collection('desk', 'notes').insert({ id: 1, words: 'good' })
      await collection('desk', 'notes').insert({ id: 2, words: 'bad' })
      await collection('desk', 'notes').insert({ id: 3, words: 'good' })
    })
    await expect(failed).rejects.toMatchObject({ kind: 'invalid' })
    expect(await notes.count()).toBe(0)
  })

  test('is one that a deferred constraint rejects at the commit, of a collection with code too', async () => {
    const before = (): void => undefined
    for (const behaviour of [{}, { events: { Insert: { before } } }]) {
      const { handle, notes } = await open(table, behaviour)
      // The service does not know of this constraint, and so lets saves share a commit.
      addDeferred(handle)
      const saves = ['good', 'bad', 'good'].map((words, index) =>
        notes.insert({ id: index, words }),
      )
      const settled = await Promise.allSettled(saves)
      if ('events' in behaviour) {
        // Code is not called again. The next saves share no commit.
        expect(settled).toMatchObject(saves.map(() => ({ reason: { isConflict: true } })))
        const [good, bad] = ['good', 'bad'].map((words, index) =>
          notes.insert({ id: index, words }),
        )
        expect([(await good)?.rejected, (await bad)?.rejected]).toEqual([false, true])
      } else {
        const values = settled.map((one) => one.status === 'fulfilled' && one.value.rejected)
        expect(values).toEqual([false, true, false])
      }
    }
  })

  test('ends neither the process nor other calls if the application closes its handle', async () => {
    const { handle, all, notes } = await open(table)
    const waiting = all.transaction(async ({ collection }) => {
      await collection('desk', 'notes').get(1)
      handle.close()
      await new Promise((resolve) => setTimeout(resolve, 60))
      return collection('desk', 'notes').get(1)
    })
    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(notes.get(1)).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

function closeOnce(handle: SqliteHandle): void {
  try {
    handle.close()
  } catch {
    // The test has closed it.
  }
}

function addDeferred(handle: SqliteHandle): void {
  handle.exec(`CREATE TABLE words (word TEXT PRIMARY KEY); INSERT INTO words VALUES ('good');
    DROP TABLE notes; CREATE TABLE notes (id INTEGER PRIMARY KEY,
      words TEXT REFERENCES words DEFERRABLE INITIALLY DEFERRED)`)
}
