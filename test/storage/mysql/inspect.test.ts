import { describe, expect, onTestFinished, test } from 'vitest'
import {
  bigint,
  boolean,
  createService,
  date,
  dateTime,
  decimal,
  defineCollection,
  double,
  instant,
  integer,
  json,
  openAccess,
  text,
  time,
  uuid,
} from '../../../src/entries/index.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { exactCollations } from '../../../src/storage/mysql/dialect.ts'
import { missingServer, numbersTable, perServer, testDatabase } from '../../kit/mysql.ts'
import { oddJson, testInspection, type OddColumn } from '../sql/inspection-cases.ts'

const missing = await missingServer()
const exact = perServer(exactCollations)
const days = ['0001-01-01', '9999-12-31', '0000-00-00', '2024-00-10', '2024-02-31', '0000-05-05']
const dates = days.map((day) => `'${day}'`)
const times = [...dates, `'9999-12-31 23:59:59.999'`, `'2024-02-29 12:00:00.5'`]
const numbers = ['0', '-0.01', '9999.99', '-9999.99', '10000', '-10000', '99999999.99']
const wholes = ['0', '-7', '9007199254740991', '9007199254740992', '-9223372036854775808']
const large = ['0', '9223372036854775807', '9223372036854775808', '18446744073709551615']
const names = [`'a'`, `'other'`, `'é '`, `concat('a', char(0))`, `''`]
const ids = ['12345678-1234-1234-1234-123456789abc', 'x'].flatMap((id) => [id, id.toUpperCase()])
// The server finds most of them valid.
const looseJson = [
  ...[
    '-',
    '1.',
    '1e',
    '-0.',
    '0E++1',
    '[1e]',
    '{"a":-}',
    '"\\q"',
    '"a\\',
    '{',
    '',
    '{"a\nb":1}',
    '01',
  ],
  ...['"a\nb"', '{"a" : "1. 2e -"}', '["x",\n 1.5e3, -0]', 'nul', '[1,]', '{"a\t\\"b":1}', '"\\/"'],
].map((value) => `'${value}'`)

// The type json of MySQL rejects lone surrogates and numbers that are not finite.
const ownJson = oddJson.filter((text) => !/ud800"|udfff|e309|e999|0{400}'/.test(text))

describe.skipIf(missing !== undefined)('rows of MariaDB or MySQL', () => {
  testInspection({
    async open() {
      const { pool, run, empty, drop } = await testDatabase()
      await run(`set sql_mode = 'ALLOW_INVALID_DATES,NO_BACKSLASH_ESCAPES'`)
      const views = ['seen', 'seen_parents', 'seen_children']
      return {
        storage: () => mysqlStorage(pool),
        run: (statements) => run(...statements),
        async empty() {
          await run(`drop view if exists ${views.join()}`)
          await empty()
        },
        drop,
      }
    },
    textType: `varchar(40) character set utf8mb4 collate ${perServer({ MariaDB: 'utf8mb4_uca1400_ai_ci', MySQL: 'utf8mb4_0900_ai_ci' })}`,
    jsonType: 'longtext',
    numbers: (n) => ['seq', `from ${numbersTable(n)}`],
    analyze: (table) => `analyze table ${table}`,
    known: {
      statements: [
        `create table items (id bigint, price decimal(12,2), large bigint unsigned, total bigint unsigned, is_on tinyint(1), day date,
          made datetime(3), moment timestamp(3) null, guid char(36) character set ascii collate ascii_bin, name text, data longtext)`,
        `insert into items values (1, 9999.99, 9223372036854775807, 999999, 1, '0001-01-01', '9999-12-31 23:59:59.999', '0000-00-00', '${ids[0]}', 'a', '"\\ud800"'),
          (2, 10000, 9223372036854775808, 1000000, 2, '0000-00-00', '2024-00-10', '2024-01-01', '${ids[1]}', '', '{'),
          (3, -10000, 18446744073709551615, 0, -1, '2024-02-31', '0000-05-05', null, 'x', concat('a', char(0)), '1e999'),
          (null, 0, 0, 18446744073709551615, 0, '2024-00-00', null, null, null, char(0), '${'['.repeat(33)}${']'.repeat(33)}'),
          (8, null, null, null, null, null, null, null, null, null, '${'['.repeat(32)}${']'.repeat(32)}'), (8, 1, 1, 1, 1, null, null, null, null, null, null), (9, null, null, null, null, null, null, null, null, null, '-')`,
      ],
      fields: {
        id: integer(),
        price: decimal({ precision: 6, scale: 2 }),
        large: bigint(),
        total: decimal({ precision: 6, scale: 0 }),
        isOn: boolean({ column: 'is_on' }),
        day: date(),
        made: dateTime(),
        moment: instant(),
        guid: uuid(),
        name: text(),
        data: json(),
      },
      problems: [
        'duplicate id 1',
        'unfit data 5',
        'unfit day 3',
        'unfit guid 2',
        'unfit id 1',
        'unfit isOn 2',
        'unfit large 2',
        'unfit made 2',
        'unfit moment 1',
        'unfit name 2',
        'unfit price 2',
        'unfit total 2',
      ],
    },
    columns: {
      size: ['bigint', integer(), ...wholes],
      positive: ['bigint unsigned', integer(), ...large, '9007199254740992', '9007199254740991'],
      padded: ['bigint zerofill', bigint(), ...large],
      large: ['bigint unsigned', bigint(), ...large],
      total: ['bigint unsigned', decimal({ precision: 19, scale: 0 }), ...large],
      small: [
        'mediumint unsigned',
        decimal({ precision: 7, scale: 0 }),
        '0',
        '9999999',
        '10000000',
      ],
      price: ['decimal(10,2)', decimal({ precision: 6, scale: 2 }), ...numbers],
      fraction: ['decimal(10,2) zerofill', decimal({ precision: 2, scale: 2 }), '0.99', '1'],
      flag: ['tinyint(1)', boolean(), '0', '1', '2', '-1'],
      day: ['date', date(), ...dates],
      hour: [
        'time',
        time(),
        ...['00:00:00', '23:59:59', '24:00:00', '-00:00:01', '838:59:59'].map((at) => `'${at}'`),
      ],
      made: ['datetime(3)', dateTime(), ...times],
      whole: ['datetime(3)', dateTime({ storedAs: 'seconds' }), ...times],
      moment: ['timestamp(3) null', instant(), `'0000-00-00'`, `'2024-01-01'`],
      guid: [
        'char(36) character set ascii collate ascii_bin',
        uuid(),
        ...ids.map((id) => `'${id}'`),
      ],
      name: ['varchar(40) collate utf8mb4_general_ci', text({ maxLength: 2 }), ...names],
      old: ['varchar(40) character set latin1', text({ enumeration: ['a'] }), ...names],
      data: [`longtext collate ${exact}`, json(), ...oddJson, ...looseJson],
      loose: ['text character set latin1', json(), ...oddJson, ...looseJson],
      anyRatio: ['double', double(), '0', '-0e0', '1e308', '5e-324'],
      anyYear: ['year', integer(), '0', '2024'],
      anyBit: ['bit(1)', boolean(), '0', '1'],
      anyMood: [`enum('a', 'b')`, text({ enumeration: ['a'] }), `'a'`, `'b'`, `'c'`],
      ...perServer<Readonly<Record<string, OddColumn>>>({
        MariaDB: { anyId: ['uuid', uuid(), ...ids.slice(0, 2).map((id) => `'${id}'`)] },
        MySQL: { document: ['json', json({ storedAs: 'jsonb' }), ...ownJson] },
      }),
      anyCut: [
        'datetime(6)',
        dateTime({ storedAs: 'microseconds' }),
        `'9999-12-31 23:59:59.999999'`,
      ],
    },
  })
  test('of long JSON are inspected', async () => {
    const { pool, run, drop } = await testDatabase()
    onTestFinished(drop)
    await run(
      `set sql_mode = 'NO_BACKSLASH_ESCAPES'`,
      `create table items (id int not null primary key, data longtext)`,
      `insert into items values (1, concat('"', repeat('\\u00e9', 200000), '"')),
        (2, concat('[', repeat(concat(repeat('1', 190), ','), 5000), '1]')),
        (3, concat('{"a": "', repeat('e', 1000000), '\\ud800"}')),
        (4, concat('[', repeat('1,', 500000), ']')), (5, concat('[', repeat('"e12",', 200000), '1e999]')),
        (6, concat('["', repeat('it is 2024 ', 100000), '\\ud83d\\ude00"]'))`,
    )
    const items = defineCollection({ key: 'id', fields: { id: integer(), data: json() } })
    const problems: (readonly unknown[])[] = []
    const plain = { ...mysqlStorage(pool), inspect: undefined }
    for (const storage of [mysqlStorage(pool), plain]) {
      const service = createService({
        applications: { shop: { collections: { items } } },
        storage: storage as StorageAdapter,
        security: openAccess(),
      })
      const found = await service.inspect()
      problems.push(found.map(({ kind, fields, count }) => [kind, ...fields, count]))
      await service.close()
    }
    // A lone surrogate, a comma before the end, and a number that is not finite.
    expect(problems).toEqual([[['unfit', 'data', 3]], [['unfit', 'data', 3]]])
  })
})
