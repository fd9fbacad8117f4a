import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  system,
  text,
  type CollectionAccess,
  type CollectionDefinition,
  type CollectionShape,
} from '../../src/entries/index.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import type { Row } from '../../src/entries/storage.ts'
import { drivers, openHandle, rowsIn } from '../kit/databases.ts'
import { send } from '../kit/service.ts'
import { inspected, openStorage, storages } from '../kit/storages.ts'

const maxTargetLength = 100
/** The longest key of a collection with a name of five letters. */
const longest = 'x'.repeat(maxTargetLength - '/rest/v1/app/words/'.length)
const tooLong = `${longest}x`
const unreachable = [tooLong, '.', '..', '', 'é'.repeat(14)]

const words = defineCollection({ key: 'word', fields: { word: text(), note: text() } })
const uses = defineCollection({
  key: 'id',
  fields: { id: integer(), word: text({ references: 'words' }), note: text() },
})

for (const storage of storages)
  describe(`keys that no path can have on ${storage.name}`, () => {
    async function open(collections: Readonly<Record<string, CollectionDefinition>>) {
      const inspection = inspected(openStorage(storage))
      const service = createService({
        applications: { app: { collections } },
        storage: inspection.storage,
        security: openAccess(),
        maxTargetLength,
      })
      onTestFinished(() => service.close())
      await service.ready()
      return {
        service,
        rows: inspection.rows,
        ask: (method: string, path: string, body?: unknown) =>
          send(service, { method, path, body }),
        own: (name: string) =>
          service.as(system).collection('app', name) as CollectionAccess<CollectionShape>,
        /** Inserts a row as another program would. */
        async plant(name: string, row: Row) {
          const collection = inspection.collections().find((one) => one.name === name)
          if (collection === undefined) throw new Error(name)
          await inspection.storage.transaction({ mode: 'write', brief: true }, (transaction) =>
            transaction.insert(collection, row),
          )
        },
      }
    }

    test('are rejected, whether a default, a handler or a nested event gives them', async () => {
      let key = tooLong
      const { ask, rows, own } = await open({
        words: defineCollection({ key: 'word', fields: { word: text({ default: () => key }) } }),
        texts: defineCollection(
          { key: 'word', fields: { word: text() } },
          {
            events: {
              Insert: {
                before: ({ item }) => {
                  item.word = key
                },
              },
            },
          },
        ),
        calls: defineCollection(
          { key: 'id', fields: { id: integer() } },
          {
            events: {
              Insert: {
                after: async ({ system: unlimited, fail }) => {
                  const result = await unlimited.collection('words').insert({ word: key })
                  if (result.rejected) fail(result.validations.map(({ field }) => field).join())
                },
              },
            },
          },
        ),
      })
      for (const [id, unreached] of unreachable.entries()) {
        key = unreached
        expect(await own('calls').insert({ id })).toMatchObject({ failure: 'word' })
        for (const name of ['words', 'texts']) {
          const { status, body } = await ask(
            'POST',
            `/${name}`,
            name === 'texts' ? { word: 'a' } : {},
          )
          expect([status, body.validations.map(({ field }) => field)]).toEqual([400, ['word']])
        }
        expect(await own('words').insert({})).toMatchObject({
          rejected: true,
          validations: [{ field: 'word' }],
        })
        expect(await own('words').change({})).toMatchObject({
          rejected: true,
          validations: [{ field: 'word' }],
        })
      }
      expect([await rows('words'), await rows('texts')]).toEqual([[], []])
      key = longest
      expect((await ask('POST', '/words', {})).status).toBe(200)
      expect((await ask('GET', `/words/${longest}`)).status).toBe(200)
    })

    test('are rejected among several items, which are all not stored', async () => {
      const { own, rows } = await open({ words })
      const result = await own('words').insertMany([
        { word: longest },
        { word: tooLong },
        { word: '..' },
      ])
      expect(result).toMatchObject({
        rejected: true,
        validations: [
          { index: 1, field: 'word' },
          { index: 2, field: 'word' },
        ],
      })
      expect(await rows('words')).toEqual([])
    })

    test('of another program can be corrected in other fields and deleted in process', async () => {
      const { own, plant, rows } = await open({ words })
      for (const word of unreachable) {
        await plant('words', { word, note: null })
        expect(await own('words').update(word, { note: 'a' })).toMatchObject({ rejected: false })
        expect(await own('words').change({ note: 'b' }, word)).toMatchObject({ rejected: false })
        expect(await own('words').get(word)).toEqual({ word, note: 'a' })
        expect(await own('words').delete(word)).toMatchObject({ rejected: false })
      }
      expect(await rows('words')).toEqual([])
    })

    test('cannot be referred to, even if another program has stored such an item', async () => {
      const { ask, plant, rows, own } = await open({ words, uses })
      await plant('words', { word: longest, note: null })
      expect((await ask('POST', '/uses', { id: 1, word: longest })).status).toBe(200)
      for (const word of unreachable) {
        await plant('words', { word, note: null })
        for (const path of ['/uses', '/uses/1']) {
          const { status, body } = await ask(
            'POST',
            path,
            path === '/uses' ? { id: 2, word } : { word },
          )
          expect([status, body.validations]).toEqual([
            400,
            [
              {
                message: 'word must be the key of an item of words.',
                severity: 'error',
                field: 'word',
              },
            ],
          ])
        }
        expect(await own('uses').updateMany({ id: 1 }, { word })).toMatchObject({ rejected: true })
      }
      expect(await rows('uses')).toEqual([{ id: 1, word: longest, note: null }])
    })

    test('that are referred to already do not prevent other changes', async () => {
      const { ask, plant } = await open({ words, uses })
      await plant('words', { word: tooLong, note: null })
      await plant('uses', { id: 1, word: tooLong, note: null })
      const { status, body } = await ask('POST', '/uses/1', { note: 'a' })
      expect([status, body.item]).toEqual([200, { id: 1, word: tooLong, note: 'a' }])
      expect((await ask('POST', '/uses/1', { word: tooLong })).status).toBe(200)
    })

    test('cannot be referred to by one part of a composite reference', async () => {
      const pairs = defineCollection({
        key: ['left', 'right'],
        fields: { left: text(), right: text() },
      })
      const links = defineCollection({
        key: 'id',
        fields: { id: integer(), left: text(), right: text(), note: text() },
        references: [{ fields: ['left', 'right'], collection: 'pairs' }],
      })
      const { ask, plant } = await open({ pairs, links })
      const half = 'x'.repeat(38)
      await plant('pairs', { left: half, right: 'y' })
      await plant('pairs', { left: half, right: `${half}${half}` })
      await plant('pairs', { left: 'a,b', right: 'y' })
      expect((await ask('POST', '/pairs', { left: half, right: `${half}yyyy` })).status).toBe(400)
      expect((await ask('POST', '/links', { id: 1, left: half, right: 'y' })).status).toBe(200)
      const long = await ask('POST', '/links/1', { right: `${half}${half}` })
      expect([long.status, long.body.validations.map(({ field }) => field)]).toEqual([
        400,
        ['left', 'right'],
      ])
      expect((await ask('POST', '/links/1', { left: 'a,b' })).status).toBe(400)
      expect((await ask('POST', '/links/1', { left: half, note: 'a' })).status).toBe(200)
    })
  })

test.each(drivers)(
  '%s: the default of a column never makes a key that no path can have',
  async (driver) => {
    const handle = openHandle(driver, ':memory:')
    handle.exec(
      `CREATE TABLE words (word TEXT PRIMARY KEY NOT NULL DEFAULT ('${tooLong}'), note TEXT)`,
    )
    const service = createService({
      applications: {
        app: {
          collections: {
            words: defineCollection({
              key: 'word',
              fields: { word: text({ default: 'database' }), note: text() },
            }),
          },
        },
      },
      storage: sqliteStorage(handle),
      security: openAccess(),
      maxTargetLength,
    })
    const { status, body } = await send(service, {
      method: 'POST',
      path: '/words',
      body: { note: 'a' },
    })
    expect([status, body.validations.map(({ field }) => field), body.item]).toEqual([
      400,
      ['word'],
      { note: 'a' },
    ])
    const many = await service
      .as(system)
      .collection('app', 'words')
      .insertMany([{ note: 'a' }])
    expect(many).toMatchObject({ rejected: true, validations: [{ field: 'word', index: 0 }] })
    expect(rowsIn(handle, 'SELECT * FROM words')).toEqual([])
    await service.close()
    handle.close()
  },
)
