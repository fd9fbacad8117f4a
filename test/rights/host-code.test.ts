import { expect } from 'vitest'
import {
  defineCollection,
  error,
  integer,
  text,
  type CollectionAccess,
  type CollectionShape,
} from '../../src/entries/index.ts'
import { describeForCallers } from '../kit/stage.ts'
import { expectForbidden, itemIn, valuesIn } from './responses.ts'
import { visitor } from '../kit/visitors.ts'

const noteFields = {
  id: integer(),
  region: text(),
  body: text(),
  secret: text({ readableBy: ['Chief'], writableBy: ['Chief'], default: 'hush' }),
} as const
const notes = defineCollection({
  key: 'id',
  fields: noteFields,
  rows: { equal: { region: { attribute: 'region' } }, exceptRoles: ['Chief'] },
})
const journal = defineCollection({
  key: 'id',
  fields: { id: integer(), line: text({ readOnly: true }) },
  roles: ['Chief'],
})
const firstNotes = [
  { id: 1, region: 'north', body: 'a', secret: 's1' },
  { id: 2, region: 'south', body: 'b', secret: 's2' },
]

const nora = visitor('nora', { region: 'north' })
const chief = visitor('chris', { roles: 'Chief' })
const fields = { id: integer(), word: text() } as const

describeForCallers('what code of the host reaches', (on) => {
  on('a handler has the rights of its caller, and system has all', async (open) => {
    const seen: unknown[] = []
    const tasks = defineCollection(
      { key: 'id', fields },
      {
        events: {
          Insert: {
            before: async ({ collection, find, system }) => {
              seen.push(
                await find(notes),
                (await collection(notes).filter({}, { count: true })).count,
                (await collection('notes').filter()).items,
                await collection(notes).get(2),
                await system.find(notes),
                (await system.collection(notes).filter({ region: 'south' })).items,
                await system.collection('notes').get(2),
              )
            },
          },
        },
      },
    )
    const stage = open({ collections: { tasks, notes } })
    await stage.plant('notes', firstNotes)
    itemIn(await stage.ask(nora, 'POST', '/tasks', { id: 1 }))
    const own = { id: 1, region: 'north', body: 'a' }
    expect(seen.splice(0)).toEqual([
      [own],
      1,
      [own],
      undefined,
      firstNotes,
      [firstNotes[1]],
      firstNotes[1],
    ])
    itemIn(await stage.ask(chief, 'POST', '/tasks', { id: 2 }))
    expect(seen[0]).toEqual(firstNotes)
  })

  on('a handler writes with the rights of its caller, unless it uses system', async (open) => {
    type Doing = (access: CollectionAccess<CollectionShape>) => Promise<unknown>
    const doings: Readonly<Record<string, readonly [Doing, number]>> = {
      update: [(access) => access.update(2, { body: 'x' }), 200],
      leave: [(access) => access.update(1, { region: 'south' }), 403],
      insert: [(access) => access.insert({ id: 9, region: 'south' }), 403],
      delete: [(access) => access.delete(2), 200],
    }
    for (const [name, [doing, status]] of Object.entries(doings)) {
      const results: unknown[] = []
      const tasks = defineCollection(
        { key: 'id', fields },
        {
          events: {
            Insert: {
              before: async ({ item, collection, system }) => {
                const reach = item.word === 'system' ? system.collection : collection
                results.push(await doing(reach('notes')))
              },
            },
          },
        },
      )
      const stage = open({ collections: { tasks, notes } })
      await stage.plant('notes', firstNotes)
      const asCaller = await stage.ask(nora, 'POST', '/tasks', { id: 1 })
      if (status === 403) expectForbidden(asCaller)
      else expect(results, name).toEqual([undefined])
      expect((await stage.rows('notes')).map(({ body }) => body)).toEqual(['a', 'b'])
      itemIn(await stage.ask(nora, 'POST', '/tasks', { id: 2, word: 'system' }))
      expect(results.at(-1), name).toMatchObject({ rejected: false })
    }
  })

  on('a handler for a caller without the right is rejected with its request', async (open) => {
    const tasks = defineCollection(
      { key: 'id', fields },
      {
        events: {
          Insert: {
            after: async ({ item, collection, system }) => {
              const reach = item.word === 'system' ? system.collection : collection
              await reach(journal).insert({ id: item.id, line: 'new' })
            },
          },
        },
      },
    )
    const stage = open({ collections: { tasks, journal } })
    expectForbidden(await stage.ask(nora, 'POST', '/tasks', { id: 1 }))
    itemIn(await stage.ask(nora, 'POST', '/tasks', { id: 2, word: 'system' }))
    itemIn(await stage.ask(chief, 'POST', '/tasks', { id: 3 }))
    expect(await stage.rows('journal')).toEqual([
      { id: 2, line: 'new' },
      { id: 3, line: 'new' },
    ])
  })

  on('the fields closed to the caller are closed to its handlers', async (open) => {
    const results: unknown[] = []
    const tasks = defineCollection(
      { key: 'id', fields },
      {
        events: {
          Insert: {
            before: async ({ collection, system }) => {
              const values = { body: 'x', secret: 'mine' }
              results.push(await collection(notes).update(1, values))
              results.push(await system.collection(notes).update(1, values))
            },
          },
          Delete: {
            before: async ({ find }) => {
              await find(notes, { secret: 's1' })
            },
          },
        },
      },
    )
    const stage = open({ collections: { tasks, notes } })
    await stage.plant('notes', firstNotes)
    itemIn(await stage.ask(nora, 'POST', '/tasks', { id: 1 }))
    expect(results).toMatchObject([
      { rejected: true, validations: [{ field: 'secret', message: 'Unknown field: secret.' }] },
      { rejected: false, item: { secret: 'mine' } },
    ])
    const answer = await stage.ask(nora, 'DELETE', '/tasks/1')
    expect(answer.status).toBe(500)
    expect(stage.reports()).toMatchObject([{ type: 'handler-failed' }])
  })

  on('handlers and rules see whole items of the caller', async (open) => {
    const seen: unknown[] = []
    const watched = defineCollection(
      { key: 'id', fields: noteFields },
      {
        validations: [error('sees', { check: ({ secret }) => void seen.push(secret) })],
        events: {
          Filter: { after: ({ items }) => void seen.push(items[0]?.secret) },
          Insert: { before: ({ item }) => void seen.push(item.secret) },
          Update: { before: ({ stored }) => void seen.push(stored.secret) },
          Delete: { before: ({ stored }) => void seen.push(stored.secret) },
        },
      },
    )
    const stage = open({ collections: { watched } })
    const answers = [
      await stage.ask(nora, 'POST', '/watched', { id: 1, body: 'x' }),
      await stage.ask(nora, 'POST', '/watched/1', { body: 'y' }),
      await stage.ask(nora, 'GET', '/watched'),
      await stage.ask(nora, 'GET', '/watched/1'),
      await stage.ask(nora, 'DELETE', '/watched/1'),
    ]
    expect(seen).toEqual(Array(7).fill('hush'))
    for (const { status, text: answer } of answers) {
      expect(status).toBe(200)
      expect(answer).not.toMatch(/hush|secret/)
    }
  })

  on('a rule looks things up with the rights of its caller, or of the system', async (open) => {
    const tasks = defineCollection(
      { key: 'id', fields },
      {
        validations: [
          error('exists', {
            field: 'word',
            check: async ({ word }, { find, system }) => {
              const own = await find(notes, { body: word })
              const any = await system.find(notes, { body: word })
              return `${own.length} of ${any.length}`
            },
          }),
        ],
      },
    )
    const stage = open({ collections: { tasks, notes } })
    await stage.plant('notes', firstNotes)
    const told = async (who: typeof nora, word: string) =>
      (await stage.ask(who, 'POST', '/tasks', { id: 1, word })).body.validations[0]?.message
    expect(await told(nora, 'a')).toBe('1 of 1')
    expect(await told(nora, 'b')).toBe('0 of 1')
    expect(await told(chief, 'b')).toBe('1 of 1')
  })

  on('the narrowing of a Filter handler adds to the row rule', async (open) => {
    const rows = { equal: { region: { attribute: 'region' } } } as const
    const narrow = defineCollection(
      { key: 'id', fields: noteFields, rows },
      { events: { Filter: { before: ({ where }) => where({ region: 'south' }) } } },
    )
    const stage = open({ collections: { narrow } })
    await stage.plant('narrow', firstNotes)
    expect(valuesIn(await stage.ask(nora, 'GET', '/narrow'))).toEqual([])
    expect((await stage.ask(nora, 'GET', '/narrow/1')).status).toBe(404)
    expect((await stage.ask(nora, 'GET', '/narrow/2')).status).toBe(404)
  })
})
