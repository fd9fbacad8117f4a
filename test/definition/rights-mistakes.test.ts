import { expect, test } from 'vitest'
import { readApplications } from '../../src/entries/index.ts'
import { mistakesIn, sound } from './mistakes.ts'

const fields = {
  id: { type: 'integer' },
  name: { type: 'text' },
  amount: { type: 'decimal', precision: 4, scale: 2 },
  serial: { type: 'bigint' },
  ratio: { type: 'double' },
  active: { type: 'boolean' },
  day: { type: 'date' },
  time: { type: 'dateTime' },
  at: { type: 'instant' },
  token: { type: 'uuid' },
  extra: { type: 'json' },
}
const typed = { key: 'id', fields }
const field = (declared: object) => ({
  ...sound,
  fields: { ...sound.fields, it: { type: 'text', ...declared } },
})
const rule = (rows: unknown) => ({ ...typed, rows })

/** Definitions with one mistake: the place that the message names, and a part of its advice. */
const mistaken: readonly (readonly [string, unknown, string, string])[] = [
  ['roles that are no list', { ...sound, roles: 'Sales' }, 'roles', ''],
  [
    'an empty list of roles',
    { ...sound, roles: [] },
    'roles',
    'leave it out to allow every caller',
  ],
  ['a role without name', { ...sound, roles: [''] }, 'roles.0', ''],
  ['a role that is not a string', { ...sound, roles: [1] }, 'roles.0', ''],
  [
    'roles for an unknown event',
    { ...sound, eventRoles: { New: ['A'] } },
    'eventRoles.New',
    'is not an option',
  ],
  [
    'an event without roles',
    { ...sound, eventRoles: { Insert: [] } },
    'eventRoles.Insert',
    'every caller',
  ],
  [
    'roles for an event that is not published',
    { ...sound, publishes: ['Filter'], eventRoles: { Insert: ['A'] } },
    'eventRoles.Insert',
    'does not publish',
  ],
  [
    'roles for an event that needs a key',
    { fields: sound.fields, eventRoles: { Delete: ['A'] } },
    'eventRoles.Delete',
    'does not publish',
  ],
  ['readers that are no list', field({ readableBy: 'A' }), 'fields.it.readableBy', ''],
  ['writers that are no list', field({ writableBy: 'A' }), 'fields.it.writableBy', 'everyone'],
  ['a writer without name', field({ writableBy: [''] }), 'fields.it.writableBy.0', ''],
  [
    'a key that some cannot read',
    { key: 'id', fields: { id: { type: 'integer', readableBy: ['A'] } } },
    'fields.id.readableBy',
    'the key is in every path',
  ],
  [
    'a key field with readableBy',
    { key: ['a', 'id'], fields: { ...sound.fields, a: { type: 'text', readableBy: [] } } },
    'fields.a.readableBy',
    'the key is in every path',
  ],
  ['a row rule that is no rule', rule('region'), 'rows', ''],
  ['a row rule without fields', rule({ equal: {} }), 'rows.equal', 'at least one field'],
  ['a row rule without equal', rule({}), 'rows', ''],
  [
    'another option of a row rule',
    rule({ equal: { id: 1 }, or: [] }),
    'rows.or',
    'is not an option',
  ],
  [
    'an unknown operator',
    rule({ where: { id: { gtt: 1 } } }),
    'rows.where.id.gtt',
    'did you mean gt',
  ],
  ['a condition without operator', rule({ where: { id: {} } }), 'rows.where.id', 'add an operator'],
  ['no conditions', rule({ where: {} }), 'rows.where', 'at least one condition'],
  [
    'a wrong bound',
    rule({ where: { id: { gte: 'x' } } }),
    'rows.where.id.gte',
    'must be an integer',
  ],
  ['a null bound', rule({ where: { id: { lt: null } } }), 'rows.where.id.lt', 'must be an integer'],
  ['a wrong list', rule({ where: { id: { in: 1 } } }), 'rows.where.id.in', 'must be a list'],
  [
    'a wrong value in a list',
    rule({ where: { id: { in: ['x'] } } }),
    'rows.where.id.in',
    'integer',
  ],
  [
    'contains of a number',
    rule({ where: { id: { contains: '1' } } }),
    'rows.where.id.contains',
    '',
  ],
  [
    'a wrong isNull',
    rule({ where: { id: { isNull: 1 } } }),
    'rows.where.id.isNull',
    'true or false',
  ],
  ['a wrong eq', rule({ where: { id: { eq: 'x' } } }), 'rows.where.id.eq', 'must be an integer'],
  ['a wrong value', rule({ where: { id: 'x' } }), 'rows.where.id', 'must be an integer'],
  ['json in a condition', rule({ where: { extra: { ne: null } } }), 'rows.where.extra', 'compared'],
  ['an or that is no list', rule({ where: { or: { id: 1 } } }), 'rows.where.or', 'must be a list'],
  [
    'a mistake within groups',
    rule({ where: { or: [{ id: 1 }, { not: { and: [{ nope: 1 }] } }] } }),
    'rows.where.or.1.not.and.0.nope',
    'there is no such field',
  ],
  [
    'a way through no collection',
    rule({ through: { field: 'id', collection: 'nope' } }),
    'rows.through.collection',
    'must be a collection of the same application',
  ],
  [
    'a way through no collection within a group',
    rule({ where: { or: [{ through: [{ collection: 'notes' }] }] } }),
    'rows.where.or.0.through.0.collection',
    'must be a collection',
  ],
  [
    'a row rule about no field',
    rule({ equal: { nope: 1 } }),
    'rows.equal.nope',
    'the fields are id, name',
  ],
  [
    'a row rule about json',
    rule({ equal: { extra: 'x' } }),
    'rows.equal.extra',
    'cannot be compared',
  ],
  [
    'a row rule about json and an attribute',
    rule({ equal: { extra: { attribute: 'x' } } }),
    'rows.equal.extra',
    'cannot be compared',
  ],
  [
    'an attribute without name',
    rule({ equal: { id: { attribute: '' } } }),
    'rows.equal.id.attribute',
    '',
  ],
  ['another part of the principal', rule({ equal: { id: { principal: 'roles' } } }), 'rows', ''],
  [
    'a value with two sources',
    rule({ equal: { id: { principal: 'user', attribute: 'x' } } }),
    'rows',
    '',
  ],
  ['a value that is a list', rule({ equal: { id: [1] } }), 'rows', ''],
  ['a number that is none', rule({ equal: { ratio: Number.NaN } }), 'rows', ''],
  [
    'an empty list of excepted roles',
    rule({ equal: { id: 1 }, exceptRoles: [] }),
    'rows.exceptRoles',
    'at least one role',
  ],
]

test.each(mistaken)('%s is named with its place and advice', (_name, definition, place, advice) => {
  const mistakes = mistakesIn(definition)
  expect(mistakes).toHaveLength(1)
  expect(mistakes[0]?.slice(0, place.length + 2)).toBe(`${place}: `)
  expect(mistakes[0]).toContain(advice)
})

test.each([
  ['id', '1'],
  ['id', 1.5],
  ['id', true],
  ['name', 1],
  ['name', false],
  ['name', 'a\0'],
  ['amount', 1],
  ['amount', '1.234'],
  ['amount', 'x'],
  ['serial', 1.5],
  ['serial', '01'],
  ['serial', true],
  ['ratio', '1'],
  ['ratio', true],
  ['active', 'true'],
  ['active', 1],
  ['day', '2023-02-29'],
  ['day', 20230101],
  ['time', '2023-01-01'],
  ['at', '2023-01-01T00:00:00'],
  ['token', 'x'],
  ['token', 1],
])('a row rule that compares %s with %j is named', (name, value) => {
  const mistakes = mistakesIn(rule({ equal: { [name]: value } }))
  expect(mistakes).toHaveLength(1)
  expect(mistakes[0]).toMatch(new RegExp(`^rows\\.equal\\.${name}: must be `))
})

test.each([
  ['roles everywhere', { ...sound, roles: ['A'], eventRoles: { Filter: ['A'], Delete: ['B'] } }],
  ['a function', { ...sound, rows: () => true }],
  ['no role can read it', field({ readableBy: [] })],
  ['no role can write it', field({ writableBy: [] })],
  ['every caller can write it', field({ readableBy: [], writableBy: 'everyone' })],
  ['null', rule({ equal: { name: null } })],
  [
    'attributes and the user',
    rule({ equal: { id: { attribute: 'x' }, name: { principal: 'user' } } }),
  ],
  [
    'values of every type',
    rule({
      equal: {
        id: 1,
        name: '',
        amount: '1.5',
        serial: '9007199254740993',
        ratio: 0.5,
        active: false,
        day: '2024-02-29',
        time: '2024-02-29T00:00:00',
        at: '2024-02-29T00:00:00Z',
        token: '00000000-0000-4000-8000-00000000000A',
      },
      exceptRoles: ['A'],
    }),
  ],
])('%s is not a mistake', (_name, definition) => {
  expect(mistakesIn(definition)).toEqual([])
})

test('the roles of an application are checked like the roles of a collection', () => {
  const read = (roles: unknown) => () =>
    readApplications(JSON.parse(JSON.stringify({ app: { roles, collections: { things: sound } } })))
  expect(read([])).toThrow('applications.app.roles')
  expect(read('A')).toThrow('applications.app.roles')
  expect(read(['A'])).not.toThrow()
})

test('readApplications accepts rights as data, and no functions', () => {
  const definition = rule({
    equal: { name: { attribute: 'region' }, id: { principal: 'user' }, active: null },
    exceptRoles: ['Chief'],
  })
  const applications = { app: { collections: { things: definition } } }
  expect(readApplications(JSON.parse(JSON.stringify(applications)))).toMatchObject(applications)
  const coded = { app: { collections: { things: rule(() => true) } } }
  expect(() => readApplications(coded as never)).toThrow('rows')
})
