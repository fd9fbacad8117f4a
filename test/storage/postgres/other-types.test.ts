import { createService, defineCollection, JsonNumber, openAccess, principal } from 'rowgate'
import { bigint, decimal, dateTime, double, instant, integer, json, text } from 'rowgate'
import { stringifyJson } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'
import { postgresStorage } from 'rowgate/postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const missing = await missingServer()

const countries = defineCollection({
  key: 'code',
  fields: { code: text({ storedAs: 'char', maxLength: 3 }), name: text() },
})
const things = defineCollection({
  key: 'id',
  fields: {
    id: bigint({ generated: 'database' }),
    country: text({ storedAs: 'char', maxLength: 5, references: 'countries' }),
    mood: text({ enumeration: ['sad', 'ok', "it's"], search: true }),
    email: text({ unique: true }),
    loose: text(),
    at: instant({ storedAs: 'microseconds' }),
    local: dateTime({ storedAs: 'microseconds' }),
    whole: dateTime({ storedAs: 'seconds' }),
    settings: json({ storedAs: 'jsonb' }),
    rate: decimal({ precision: 12, scale: 4 }),
    weight: double({ readOnly: true }),
    host: text({ readOnly: true }),
    count: integer(),
  },
})

const tables = `
  create type mood as enum ('sad', 'ok', 'it''s');
  create domain feeling as mood;
  create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  create table countries (code char(3) primary key, name text);
  create table things (
    id bigint generated always as identity primary key, country char(5) references countries, mood feeling,
    email text collate "loose" unique, loose text collate "loose", at timestamptz, local timestamp, whole timestamp(0),
    settings jsonb, rate numeric, weight real, host inet, count smallint);
  insert into countries values ('NO', 'Norway'), ('', 'none');
  insert into things (country, mood, email, loose, at, local, rate, weight, host) values
    ('NO', 'it''s', 'Me@x.org', 'Abc', '2024-01-01 00:00:00.123456Z', '2024-01-01 00:00:00.123999', 1.5, 0.1, '10.0.0.1'),
    (null, 'sad', 'you@x.org', 'abc', '2024-01-01 00:00:00.123999Z', '2024-01-01 00:00:00.124', 1.50, 0.2, '10.0.0.2'),
    ('', 'ok', null, 'ABD', null, null, 12345678.1234, null, null)`

describe.skipIf(missing !== undefined)('columns of existing PostgreSQL tables', () => {
  let schema: TestSchema
  let service: ReturnType<typeof openService>
  const openService = () =>
    createService({
      applications: { app: { collections: { countries, things } } },
      storage: postgresStorage(schema.pool),
      security: openAccess(),
    })
  beforeAll(async () => {
    schema = await testSchema()
    await schema.run(tables)
    service = openService()
    await service.ready()
  })
  afterAll(async () => {
    await service.close()
    await schema.drop()
  })
  const items = () => service.as(principal('any')).collection('app', 'things')
  const found = async (conditions: object, sort: readonly string[] = []) => {
    const page = await items().filter(conditions, { sort: sort as never })
    return page.items.map(({ id }) => id)
  }

  test.each([
    [{ country: 'NO' }, ['1']],
    [{ country: '' }, ['3']],
    [{ mood: "it's" }, ['1']],
    [{ mood: 'none' }, []],
    [{ email: 'Me@x.org' }, ['1']],
    [{ email: 'me@x.org' }, []],
    [{ loose: 'abc' }, ['2']],
    [{ at: '2024-01-01T00:00:00.123Z' }, ['1', '2']],
    [{ local: '2024-01-01T00:00:00.123' }, ['1']],
    [{ rate: '1.5000' }, ['1', '2']],
    [{ weight: 0.1 }, ['1']],
    [{ host: '10.0.0.2/32' }, ['2']],
    [{ host: '10.0.0.2' }, []],
  ])('are found by exactly their value: %j', async (conditions, expected) => {
    expect(await found(conditions)).toEqual(expected)
  })

  test.each([
    ["it'", ['1']],
    ['me@', ['1']],
    ['10.0.0', ['1', '2']],
    ['1.5000', ['1', '2']],
    ['00.123z', ['1', '2']],
    ['abd', ['3']],
  ])('are searched as clients see them: %s', async (needle, expected) => {
    const handle = toFetchHandler(service)
    const url = `http://localhost/rest/v1/app/things?$q=${encodeURIComponent(needle)}`
    const page = (await (await handle(new Request(url))).json()) as {
      readonly items: readonly { readonly id: string }[]
    }
    expect(page.items.map(({ id }) => id)).toEqual(expected)
  })

  test('are ordered by their values, code point by code point', async () => {
    const by = (...sort: readonly string[]) => found({}, sort)
    expect(await by('mood')).toEqual(['1', '3', '2'])
    expect(await by('loose')).toEqual(['3', '1', '2'])
    expect(await by('at', '-id')).toEqual(['3', '2', '1'])
  })

  test('keep the digits that clients do not see when an item is saved', async () => {
    const [item] = (await items().filter({ id: '1' })).items
    const { weight, host, id, ...values } = item as unknown as Record<string, unknown>
    expect({ weight, host }).toEqual({ weight: 0.1, host: '10.0.0.1/32' })
    const result = await items().update(id as never, { ...values, count: 7 })
    expect(result).toMatchObject({ rejected: false })
    const stored = `select at::text as at, local::text as local from things where id = 1`
    expect(await schema.run(stored)).toMatchObject([{ local: '2024-01-01 00:00:00.123999' }])
    const changed = { at: '2024-01-01T00:00:00.124Z' }
    await items().update(id as never, changed)
    expect(await found(changed)).toEqual(['1'])
  })

  test.each(['inet', 'double precision', 'interval', 'int4range'])(
    'a key of %s, which is published as text, is checked',
    async (type) => {
      const own = await testSchema()
      onTestFinished(() => own.drop())
      await own.run(`create table hosts (host ${type} primary key)`)
      const hosts = defineCollection({ key: 'host', fields: { host: text({ readOnly: true }) } })
      const reading = createService({
        applications: { app: { collections: { hosts } } },
        storage: postgresStorage(own.pool),
        security: openAccess(),
      })
      await reading.ready()
      expect(await reading.inspect()).toEqual([])
      await reading.close()
    },
  )

  test('of jsonb keep all digits of numbers', async () => {
    const settings = { total: new JsonNumber('12345678901234567890.50'), rate: 0.1 }
    const result = await items().update('1', { settings })
    const stored = { settings: expect.anything() as unknown }
    expect(result).toMatchObject({ rejected: false, item: stored })
    for (const item of [(result as { item?: unknown }).item, await items().get('1')])
      expect(stringifyJson(item)).toContain(
        '"settings":{"rate": 0.1, "total": 12345678901234567890.50}',
      )
  })

  test('get the values of new items, or reject them', async () => {
    const insert = (values: object) => items().insert(values)
    const values = {
      ...{ country: 'NO', mood: 'ok', email: 'new@x.org', whole: '2024-01-01T12:00:00' },
      ...{ settings: { b: 1, a: [1] }, rate: '2.5' },
    }
    expect(await insert(values)).toMatchObject({
      rejected: false,
      item: { ...values, rate: '2.5000' },
    })
    const rejected = [
      { country: 'NO ' },
      { country: 'XX' },
      { mood: 'glad' },
      { email: 'NEW@x.org' },
      { whole: '2024-01-01T12:00:00.5' },
      { count: 40_000 },
    ]
    for (const each of rejected) {
      expect({ each, result: await insert(each) }).toMatchObject({ result: { rejected: true } })
    }
  })
})
