import { expect } from 'vitest'
import {
  computed,
  defineCollection,
  error,
  information,
  integer,
  json,
  principal,
  text,
  type Fields,
} from '../../src/entries/index.ts'
import { auditor, clerk } from '../kit/people.ts'
import { describeForCallers } from '../kit/stage.ts'
import { bytesOf, itemIn } from './responses.ts'

const audited = { readableBy: ['Auditor'] } as const
const fields = {
  id: integer(),
  name: text(),
  secret: text({ ...audited, maxLength: 4, unique: true }),
  score: integer({ ...audited, minimum: 1, enumeration: [1, 2] }),
  file: json(audited),
  none: text({ readableBy: [], maxLength: 3, default: 'nn' }),
} as const satisfies Fields
const people = defineCollection({ key: 'id', fields })
const names = ['secret', 'score', 'file', 'none'] as const
const unseen = { message: 'A value that you cannot see does not allow this.', severity: 'error' }

describeForCallers('a field that names its readers only', (on) => {
  on('is an unknown field to all others', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', [{ id: 1, name: 'Ann', secret: 'zebr', score: 1, none: 'nn' }])
    const bodies = (name: string): readonly (readonly [path: string, body: object])[] => [
      ['/people', { id: 9, [name]: 'zebr' }],
      ['/people', { id: 1, [name]: 'zebr' }],
      ['/people', { [name]: 1, id: 9, name: 5 }],
      ['/people/1', { [name]: 'zebr' }],
      ['/people/1', { [name]: 'too long a value' }],
      ['/people/1', { [name]: null }],
      ['/people/1', { [name]: 1, name: 'B' }],
      ['/people/99', { [name]: 1 }],
    ]
    for (const name of names) {
      for (const [index, [path, body]] of bodies(name).entries()) {
        const [, unknown] = bodies('nothing')[index] as readonly [string, object]
        const answer = await stage.ask(clerk, 'POST', path, body)
        const expected = bytesOf(await stage.ask(clerk, 'POST', path, unknown))
        expect(answer.status, JSON.stringify(body)).toBe(path === '/people/99' ? 404 : 400)
        expect(bytesOf(answer)).toBe(expected.replaceAll('nothing', name))
      }
    }
    expect(await stage.rows('people')).toMatchObject([{ secret: 'zebr', score: 1, none: 'nn' }])
  })

  on('is set by its readers', async (open) => {
    const stage = open({ collections: { people } })
    const sent = { id: 1, name: null, secret: 'a', score: 2, file: [1] }
    expect(itemIn(await stage.ask(auditor, 'POST', '/people', sent))).toEqual(sent)
    const changed = await stage.ask(auditor, 'POST', '/people/1', { secret: 'b' })
    expect(itemIn(changed)).toMatchObject({ secret: 'b' })
    const { status } = await stage.ask(auditor, 'POST', '/people/1', { none: 'n' })
    expect(status).toBe(400)
  })

  on('is set in process by its readers and by the system', async (open) => {
    const stage = open({ collections: { people } })
    await stage.plant('people', [{ id: 1, secret: 'a' }])
    const access = stage.service.as(principal('carl')).collection('app', 'people')
    const rejected = { rejected: true, validations: [{ message: 'Unknown field: secret.' }] }
    expect(await access.update(1, { secret: 'b' })).toMatchObject(rejected)
    expect(await access.insertMany([{ id: 2, secret: 'b' }])).toMatchObject(rejected)
    expect(await access.updateMany({}, { secret: 'b' })).toMatchObject(rejected)
    const chief = stage.service.as(principal('ada', { roles: ['Auditor'] }))
    const saved = await chief.collection('app', 'people').update(1, { secret: 'b' })
    expect(saved).toMatchObject({ rejected: false, item: { secret: 'b' } })
  })
})

describeForCallers('a field that may be set and not read', (on) => {
  on('says so with writableBy: roles, or everyone', async (open) => {
    const boxes = defineCollection({
      key: 'id',
      fields: {
        id: integer(),
        pin: text({ readableBy: [], writableBy: 'everyone', maxLength: 4 }),
        mark: text({ readableBy: ['Auditor'], writableBy: ['Clerk'] }),
        title: text({ writableBy: 'everyone' }),
      },
    })
    const stage = open({ collections: { boxes } })
    const clerks = { ...clerk, 'x-roles': 'Clerk' }
    const sent = { id: 1, pin: '1234', mark: 'm', title: 't' }
    expect(itemIn(await stage.ask(clerks, 'POST', '/boxes', sent))).toEqual({ id: 1, title: 't' })
    expect(await stage.rows('boxes')).toMatchObject([sent])
    itemIn(await stage.ask(clerk, 'POST', '/boxes/1', { pin: '12' }))
    const long = await stage.ask(clerk, 'POST', '/boxes/1', { pin: '12345' })
    expect(long.body.validations).toMatchObject([{ field: 'pin' }])
    const other = await stage.ask(clerk, 'POST', '/boxes/1', { mark: 'x' })
    expect(other.body.validations).toMatchObject([{ message: 'Unknown field: mark.' }])
    const read = await stage.ask(auditor, 'POST', '/boxes/1', { mark: 'x' })
    expect(read.body.validations).toMatchObject([{ message: 'mark is read-only.' }])
  })

  on('does not tell which of its values another item has', async (open) => {
    const boxes = defineCollection({
      key: 'id',
      fields: {
        id: integer(),
        pin: text({ readableBy: [], writableBy: 'everyone', unique: true }),
        name: text(),
        part: text({ readableBy: ['Auditor'], writableBy: 'everyone' }),
      },
      unique: [['name', 'part']],
    })
    const stage = open({ collections: { boxes } })
    await stage.plant('boxes', [{ id: 1, pin: '1234', name: 'a', part: 'p' }])
    const repeated = [
      { id: 2, pin: '1234' },
      { id: 2, name: 'a', part: 'p' },
      { id: 2, pin: '1234', name: 'a', part: 'p' },
    ]
    for (const body of repeated) {
      const answer = await stage.ask(clerk, 'POST', '/boxes', body)
      expect(answer.status).toBe(400)
      expect(answer.body.validations).toEqual([unseen])
    }
    const both = await stage.ask(auditor, 'POST', '/boxes', { id: 2, name: 'a', part: 'p' })
    expect(both.body.validations).toMatchObject([{ field: 'name' }, { field: 'part' }])
  })
})

describeForCallers('a save that hidden values do not allow', (on) => {
  on('has one entry, whatever and however many they are', async (open) => {
    const given = { ...audited, default: 'same' } as const
    const forms = {
      unique: { ...fields, secret: text({ ...given, unique: true }) },
      uniques: {
        ...fields,
        secret: text({ ...given, unique: true }),
        other: text({ ...given, unique: true }),
      },
      required: { ...fields, secret: text({ ...audited, required: true }) },
      requireds: {
        ...fields,
        secret: text({ ...audited, required: true }),
        other: text({ readableBy: [], required: true }),
      },
      refers: { ...fields, secret: integer({ ...audited, references: 'people', default: 7 }) },
    } as const satisfies Record<string, Fields>
    const collections = Object.fromEntries(
      Object.entries(forms).map(([name, own]) => [
        name,
        defineCollection(
          { key: 'id', fields: own },
          {
            validations:
              name === 'requireds'
                ? [
                    error('one', { field: 'secret', check: () => 'secret one' }),
                    error('two', { field: 'secret', check: () => 'secret two' }),
                  ]
                : [],
          },
        ),
      ]),
    )
    const stage = open({ collections: { people, ...collections } })
    for (const name of ['unique', 'uniques'])
      itemIn(await stage.ask(clerk, 'POST', `/${name}`, { id: 1 }))
    const texts = new Set<string>()
    for (const name of Object.keys(forms)) {
      const answer = await stage.ask(clerk, 'POST', `/${name}`, { id: 2, name: 'x' })
      expect(answer.status, name).toBe(400)
      texts.add(bytesOf(answer))
      const many = stage.service.as(principal('carl')).collection('app', name)
      const results = await many.insertMany([{ id: 2 }, { id: 3 }] as never)
      const entries = [0, 1].map((index) => ({ index, key: null, ...unseen }))
      expect(results.validations, name).toEqual(entries)
    }
    expect([...texts]).toHaveLength(1)
    expect([...texts].join('')).not.toMatch(/secret|other|required|has this|key of/)
  })

  on('does not name the hidden fields of a group that another event repeats', async (open) => {
    const cards = defineCollection(
      {
        key: 'id',
        fields: { id: integer(), name: text(), secret: text(audited) },
        unique: [['name', 'secret']],
      },
      {
        events: {
          Insert: {
            before: async ({ item, system }) => {
              // Something is written, so that the whole request is rolled back.
              await system.collection('people').insert({ id: item.id })
            },
          },
        },
      },
    )
    const starts = defineCollection(
      { key: 'id', fields: { id: integer() } },
      {
        events: {
          Insert: {
            after: async ({ item, system }) => {
              const values = { id: item.id, name: 'x', secret: 'same' }
              await system.collection('cards').insert(values)
            },
          },
        },
      },
    )
    const stage = open({ collections: { people, cards, starts } })
    itemIn(await stage.ask(clerk, 'POST', '/starts', { id: 1 }))
    const answer = await stage.ask(clerk, 'POST', '/starts', { id: 2 })
    expect(answer.status).toBe(400)
    expect(answer.text).not.toMatch(/secret|same/)
    expect(answer.body.validations).toEqual([unseen])
    const seen = await stage.ask(auditor, 'POST', '/starts', { id: 2 })
    expect(seen.body.validations).toMatchObject([{ field: 'name' }, { field: 'secret' }])
  })

  on('says nothing of computed fields that the caller cannot read', async (open) => {
    const issues = (path: string) => ({
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: () => ({ issues: [{ message: 'told', path: [path] }] }),
      },
    })
    const rules = (path: string) =>
      defineCollection(
        { key: 'id', fields },
        {
          computed: { level: computed(text(), ['secret'], ({ secret }) => secret) },
          validations: [
            error('rule', { schema: issues(path) }),
            information('note', { schema: issues(path) }),
          ],
        },
      )
    const stage = open({ collections: { hidden: rules('level'), open: rules('name') } })
    const answer = await stage.ask(clerk, 'POST', '/hidden', { id: 1 })
    expect(answer.body.validations).toEqual([unseen])
    const other = await stage.ask(clerk, 'POST', '/open', { id: 1 })
    expect(other.body.validations).toHaveLength(2)
    const seen = await stage.ask(auditor, 'POST', '/hidden', { id: 1 })
    expect(seen.body.validations).toMatchObject([{ field: 'level' }, { field: 'level' }])
  })
})
