import { expect, test } from 'vitest'
import { defineCollection, integer, text } from '../../src/entries/index.ts'
import { readDocument } from './fixture.ts'

const people = defineCollection({
  key: 'id',
  eventRoles: { Insert: ['Office'], Update: ['Office'], Delete: ['Office', 'Boss'] },
  fields: {
    id: integer(),
    name: text({ required: true }),
    salary: integer({ readableBy: ['Office'], writableBy: ['Office'] }),
    rating: integer({ writableBy: ['Boss'] }),
    secret: text({ readableBy: [], readOnly: true }),
    iban: text({ readableBy: ['Boss'], unique: true, references: 'inbox' }),
    pin: text({ readableBy: [], writableBy: 'everyone', maxLength: 4 }),
    hidden: text({ readableBy: [], pattern: 'x' }),
  },
})
const notes = defineCollection({
  key: 'id',
  roles: ['Office'],
  fields: { id: integer(), person: integer({ references: 'people' }) },
})
const inbox = defineCollection({
  key: 'id',
  eventRoles: { Filter: ['Office'] },
  fields: { id: text(), line: text() },
})
const applications = { app: { collections: { people, notes, inbox } } }

const of = (...roles: readonly string[]) => readDocument({ applications }, { roles })
const operationsOf = ({ document }: ReturnType<typeof of>) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).flatMap((name) => (name === 'parameters' ? [] : [`${name} ${path}`])),
  )

test('a caller without roles sees the events that every caller may invoke', () => {
  expect(operationsOf(of())).toEqual([
    'get /app/people',
    'get /app/people/{id}',
    'post /app/inbox',
    'post /app/inbox/{id}',
    'delete /app/inbox/{id}',
  ])
  expect(of().document.tags.map(({ name }) => name)).toEqual(['people', 'inbox'])
})

test('a caller with a role sees the events of the role', () => {
  expect(operationsOf(of('Office'))).toContain('delete /app/people/{id}')
  expect(operationsOf(of('Boss'))).toContain('delete /app/people/{id}')
  expect(operationsOf(of('Boss'))).not.toContain('post /app/people')
})

test('a document never names a field that the caller cannot read', () => {
  const text = JSON.stringify(of().document)
  expect(text).not.toMatch(/salary|secret/)
  expect(text).not.toContain('Office')
  expect(of('Office').schema('PeopleItem').properties).toHaveProperty('salary')
  expect(JSON.stringify(readDocument({ applications }).document)).not.toContain('secret')
})

test('only the readers of a field learn about it, unless others may set it', () => {
  expect(JSON.stringify(of('Office').document)).not.toContain('iban')
  expect(of('Boss').schema('PeopleItem').properties).toHaveProperty('iban')
  expect(of('Office', 'Boss').schema('PeopleUpdate').properties).toHaveProperty('iban')
  expect(of('Office').schema('PeopleItem').properties).not.toHaveProperty('pin')
  expect(of('Office').schema('PeopleInsert').properties).toHaveProperty('pin.maxLength', 4)
  expect(JSON.stringify(readDocument({ applications }).document)).not.toContain('hidden')
})

test('a body has the fields that the caller can set', () => {
  expect(Object.keys(of('Office').schema('PeopleInsert').properties)).toEqual([
    'id',
    'name',
    'salary',
    'pin',
  ])
  expect(Object.keys(of('Office', 'Boss').schema('PeopleInsert').properties)).toContain('rating')
  expect(of('Office').schema('PeopleItem').properties).toHaveProperty('rating')
})

test('links lead only to what the caller can read', () => {
  const links = (roles: readonly string[]) =>
    of(...roles).operation('get', '/app/people/{id}').responses['200']?.links
  expect(links(['Office'])).toHaveProperty('notes')
  expect(links([])).toBeUndefined()
})

test('without roles in the options, a document shows every role', () => {
  const all = readDocument({ applications })
  expect(all.document).toEqual(of('Boss', 'Office').document)
})
