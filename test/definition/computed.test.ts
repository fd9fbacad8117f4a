import { describe, expect, test } from 'vitest'
import { definitionData } from '../../src/deployment/package/definition-data.ts'
import {
  computed,
  decimal,
  defineCollection,
  integer,
  text,
  withBehaviour,
  withCode,
  type ApplicationDefinitions,
} from '../../src/entries/index.ts'
import { openStage } from '../kit/stage.ts'
import { openStorage } from '../kit/storages.ts'
import { mistakesIn, sound } from './mistakes.ts'

const declared = (one: object, more: object = {}) => ({
  ...sound,
  ...more,
  computed: { size: { field: integer(), needs: ['name'], compute: () => 1, ...one } },
})

describe('mistakes in computed fields', () => {
  test('a sound one has none', () => {
    expect(mistakesIn(declared({}))).toEqual([])
    const full = integer({ minimum: 0, maximum: 9, required: true, readableBy: ['A'] })
    expect(mistakesIn(declared({ field: full }))).toEqual([])
  })

  const secret = { ...sound.fields, secret: text({ readableBy: [] }) }

  test.each([
    [
      'a name of a stored field',
      declared({}, { fields: { ...sound.fields, size: integer() } }),
      ['computed.size: there is a stored field with this name'],
    ],
    [
      'an unknown need',
      declared({ needs: ['nope'] }),
      ['computed.size.needs: nope is not a stored field; the fields are id, name'],
    ],
    ['no needs', declared({ needs: [] }), ['computed.size.needs: must not be empty']],
    [
      'another computed field as a need',
      declared({ needs: ['size'] }),
      ['computed.size.needs: size is not a stored field; the fields are id, name'],
    ],
    [
      'an asynchronous function',
      declared({ compute: async () => Promise.resolve(1) }),
      ['computed.size.compute: must be synchronous: it is called for each item of a page'],
    ],
    ['no function', declared({ compute: 'x' }), ['computed.size.compute: must be a function']],
    [
      'options of stored fields',
      declared({ field: text({ default: 'x', search: false }) }),
      [
        'computed.size.field.default: is not an option of a computed field: leave it out',
        'computed.size.field.search: is not an option of a computed field: leave it out',
      ],
    ],
    [
      'a wrong type',
      declared({ field: decimal({ precision: 2, scale: 3 }) }),
      ['computed.size.field.scale: must be at most the precision, 2'],
    ],
    [
      'an unknown type',
      declared({ field: { type: 'string' } }, { key: 'nope' }),
      [
        'computed.size.field.type: must be text, integer, bigint, decimal, double, boolean, date, time, dateTime, instant, uuid or json',
        'key: nope is not a field; the fields are id, name',
      ],
    ],
    [
      'a need that no caller can read',
      declared({ needs: ['secret'] }, { fields: secret }),
      [
        'computed.size.needs: no caller can read secret, so none could read size: declare its own readableBy',
      ],
    ],
  ])('%s', (_, definition, mistakes) => {
    expect(mistakesIn(definition)).toEqual(mistakes)
  })

  test('its own readableBy may reveal what it needs', () => {
    const own = { needs: ['secret'], field: integer({ readableBy: ['A'] }) }
    expect(mistakesIn(declared(own, { fields: secret }))).toEqual([])
  })
})

const things = defineCollection(
  { key: 'id', fields: { id: integer(), name: text() } },
  { computed: { size: computed(integer(), ['name'], ({ name }) => name?.length ?? null) } },
)

describe('computed fields of a package', () => {
  test('are omitted, and the collection is served without them', async () => {
    const applications = definitionData({ app: { collections: { things } } })
    expect(applications).toMatchObject({
      app: { collections: { things: { omittedCode: ['computed.size'] } } },
    })
    const { app } = applications as unknown as ApplicationDefinitions
    const { client } = openStage(app?.collections ?? {})
    await client.post('/app/things', { id: 1, name: 'abc' })
    expect((await client.get('/app/things/1')).body).toMatchObject({ item: { id: 1, name: 'abc' } })
    expect((await client.get('/app/things?$fields=size')).status).toBe(400)
  })

  test('are supplied by withCode', async () => {
    const data = definitionData({ app: { collections: { things } } }) as unknown
    const code = { app: { things: { computed: things.computed ?? {} } } }
    const { app } = withCode(data as ApplicationDefinitions, code)
    const { client } = openStage(app?.collections ?? {})
    await client.post('/app/things', { id: 1, name: 'abc' })
    expect((await client.get('/app/things?$fields=size')).body).toMatchObject({
      items: [{ size: 3 }],
    })
    expect(() => withCode({ app: { collections: { things } } }, code)).toThrow(
      'code.app.things.computed.size: the definition has this code already',
    )
  })

  test('are added by withBehaviour', () => {
    const more = withBehaviour(things, {
      computed: { upper: computed(text(), ['name'], ({ name }) => name?.toUpperCase() ?? null) },
    })
    expect(Object.keys(more.computed ?? {})).toEqual(['size', 'upper'])
  })
})

test('a page without computed fields is the JSON text that storage wrote', async () => {
  const { client, storageCalls } = openStage({ things }, { storage: openStorage() })
  await client.post('/app/things', { id: 1, name: 'abc' })
  const reads = () => storageCalls.filter((call) => call.startsWith('filter'))
  await client.get('/app/things')
  expect(reads()).toEqual(['filter things as text'])
  await client.get('/app/things?$fields=size')
  expect(reads()).toEqual(['filter things as text', 'filter things'])
})
