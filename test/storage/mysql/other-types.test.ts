import { createService, defineCollection, openAccess, principal } from 'rowgate'
import { bigint, boolean, date, dateTime, decimal, double, instant, integer, text } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'
import { mysqlStorage } from 'rowgate/mysql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingServer, perServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'

const missing = await missingServer()

const exact = perServer({ MariaDB: 'utf8mb4_nopad_bin', MySQL: 'utf8mb4_0900_bin' })
// MySQL has no type for addresses.
const host = perServer({ MariaDB: 'inet6', MySQL: `enum('::1')` })

const countries = defineCollection({
  key: 'code',
  fields: { code: text({ storedAs: 'char', maxLength: 3 }), name: text() },
})
const things = defineCollection({
  key: 'id',
  fields: {
    id: bigint({ generated: 'database' }),
    country: text({ storedAs: 'char', maxLength: 3, references: 'countries' }),
    mood: text({ enumeration: ['sad', 'ok', "it's"] }),
    loose: text({ unique: true }),
    old: text(),
    at: instant({ storedAs: 'microseconds' }),
    local: dateTime({ storedAs: 'microseconds' }),
    whole: dateTime({ storedAs: 'seconds' }),
    day: date(),
    made: integer(),
    padded: integer(),
    small: integer(),
    large: decimal({ precision: 20, scale: 0 }),
    price: decimal({ precision: 6, scale: 2 }),
    isOn: boolean({ column: 'is_on' }),
    flags: text({ readOnly: true }),
    bits: text({ readOnly: true }),
    weight: double({ readOnly: true }),
    length: text({ readOnly: true }),
    born: text({ readOnly: true }),
    host: text({ readOnly: true }),
  },
})

const tables = [
  `create table countries (code char(3) collate ${exact} primary key, name text)`,
  `create table things (id bigint unsigned primary key auto_increment,
    country char(3) collate ${exact}, mood enum('sad', 'ok', 'it''s', 'a\\\\b') collate ${exact},
    loose varchar(20) collate utf8mb4_general_ci unique, old varchar(20) character set latin1, at timestamp(6) null,
    local datetime(6), whole datetime, day date, made year, padded int(6) zerofill, small tinyint unsigned,
    large bigint unsigned, price decimal(6, 2) zerofill, is_on bit(1), flags set('b', 'a', 'c') collate ${exact},
    bits bit(9), weight float, length time(3), born date, host ${host}, foreign key (country) references countries (code))`,
  `insert into countries values ('NO', 'Norway'), ('', 'none')`,
  `set sql_mode = ''`,
  `insert into things (country, mood, loose, old, at, local, day, made, padded, small, large, price, is_on, flags, bits,
      weight, length, born, host) values
    ('NO', 'it''s', 'Abc', 'é', '2024-01-01 00:00:00.123456', '2024-01-01 00:00:00.123999', '2024-02-29', 2024, 7, 255,
      18446744073709551615, 1.5, 1, 'a,b', 5, 0.1, '-838:58:59.5', '0000-00-00', '::1'),
    (null, 'sad', 'abd', 'E', '2024-01-01 00:00:00.123999', '2024-01-01 00:00:00.124', null, 0, 12, 0, 7, 15, 0, 'c', 0,
      16777216, '10:00:00', '2024-00-10', null),
    ('', 'ok', null, null, null, null, null, null, null, null, null, null, null, '', null, null, null, null, null)`,
  `set sql_mode = default`,
]

describe.skipIf(missing !== undefined)('columns of existing MariaDB tables', () => {
  let database: TestDatabase
  let service: ReturnType<typeof openService>
  const openService = () =>
    createService({
      applications: { app: { collections: { countries, things } } },
      storage: mysqlStorage(database.pool),
      security: openAccess(),
    })
  beforeAll(async () => {
    database = await testDatabase()
    await database.run(`set time_zone = '+00:00'`, ...tables)
    service = openService()
    await service.ready()
  })
  afterAll(async () => {
    await service.close()
    await database.drop()
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
    [{ mood: 'OK' }, []],
    [{ mood: ['sad', 'ok', 'x'] }, ['2', '3']],
    [{ loose: 'Abc' }, ['1']],
    [{ loose: 'abc' }, []],
    [{ old: 'é' }, ['1']],
    [{ old: 'E' }, ['2']],
    [{ old: '\u{1f600}' }, []],
    [{ at: '2024-01-01T00:00:00.123Z' }, ['1', '2']],
    [{ local: '2024-01-01T00:00:00.123' }, ['1']],
    [{ made: 2024 }, ['1']],
    [{ made: 24 }, []],
    [{ made: 0 }, ['2']],
    [{ padded: 7 }, ['1']],
    [{ small: [0, 255] }, ['1', '2']],
    [{ large: '18446744073709551615' }, ['1']],
    [{ large: '18446744073709551614' }, []],
    [{ price: '1.50' }, ['1']],
    [{ isOn: false }, ['2']],
    [{ flags: 'b,a' }, ['1']],
    [{ bits: '000000101' }, ['1']],
    [{ weight: 0.10000000149011612 }, ['1']],
    [{ weight: 16777216 }, ['2']],
    [{ length: '-838:58:59.500' }, ['1']],
    [{ born: '0000-00-00' }, ['1']],
    [{ host: '::1' }, ['1']],
  ])('are found by exactly their value: %j', async (conditions, expected) => {
    const [[name, value] = []] = Object.entries(conditions)
    const given = Array.isArray(value) ? { [String(name)]: { in: value as never } } : conditions
    expect(await found(given)).toEqual(expected)
  })

  test.each([
    ["it'", ['1']],
    ['00.123z', ['1', '2']],
    ['abd', ['2']],
    ['b,a', ['1']],
    ['0101', ['1']],
    ['000007', []],
    ['0000-00', ['1']],
    ['-00-10', ['2']],
    ['1844674407370955161', ['1']],
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
    expect(await by('flags')).toEqual(['3', '1', '2'])
    expect(await by('old')).toEqual(['3', '2', '1'])
    expect(await by('at', '-id')).toEqual(['3', '2', '1'])
    expect(await by('-large')).toEqual(['1', '2', '3'])
    expect(await by('-weight')).toEqual(['2', '1', '3'])
  })

  test('keep the digits that clients do not see when an item is saved', async () => {
    const [item] = (await items().filter({ id: '1' })).items
    const { id, weight, flags, bits, length, born, host, ...values } = item as unknown as Record<
      string,
      unknown
    >
    expect({ weight, flags, bits, length, born, host }).toEqual({
      ...{ weight: 0.10000000149011612, flags: 'b,a', bits: '000000101', length: '-838:58:59.500' },
      ...{ born: '0000-00-00', host: '::1' },
    })
    const result = await items().update(id as never, { ...values, small: 9 })
    expect(result).toMatchObject({ rejected: false })
    const stored = `select cast(at as char) as at, cast(local as char) as local from things where id = 1`
    expect(await database.run(stored)).toEqual([
      { at: '2024-01-01 00:00:00.123456', local: '2024-01-01 00:00:00.123999' },
    ])
    await items().update(id as never, { at: '2024-01-01T00:00:00.124Z' })
    expect(await found({ at: '2024-01-01T00:00:00.124Z' })).toEqual(['1'])
  })

  test('get the values of new items, or reject them', async () => {
    const insert = (values: object) => items().insert(values)
    const values = {
      ...{ country: 'NO', mood: 'ok', loose: 'New', old: 'ß', whole: '2024-01-01T12:00:00' },
      ...{ made: 1901, padded: 123456, small: 255, large: '18446744073709551615', price: '0.50' },
      ...{ isOn: true, at: '2038-01-19T03:14:07.999Z', local: '9999-12-31T23:59:59.999' },
    }
    expect(await insert(values)).toMatchObject({ rejected: false, item: values })
    const rejected = [
      { country: 'NO ' },
      { country: 'XX' },
      { mood: 'OK' },
      { mood: 'a\\b' },
      { loose: 'NEW' },
      { old: '\u{1f600}' },
      { whole: '2024-01-01T12:00:00.5' },
      { made: 24 },
      { made: 1900 },
      { padded: -1 },
      { small: 256 },
      { large: '18446744073709551616' },
      { large: '-1' },
      { price: '10000.00' },
      { at: '2040-01-01T00:00:00Z' },
    ]
    for (const each of rejected) {
      expect({ each, result: await insert(each) }).toMatchObject({ result: { rejected: true } })
    }
  })
})
