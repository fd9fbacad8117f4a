import { describe } from 'vitest'
import {
  date,
  dateTime,
  decimal,
  double,
  instant,
  integer,
  json,
  text,
  time,
} from '../../../src/entries/index.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import { missingServer, testSchema } from '../../kit/postgres.ts'
import { oddJson, testInspection } from '../sql/inspection-cases.ts'

const missing = await missingServer()
const days = [`'0001-01-01'`, `'9999-12-31'`, `'10000-01-01'`, `'0001-01-01 BC'`, `'-infinity'`]
const times = [...days, `'9999-12-31 23:59:59.999'`, `'infinity'`, `'2024-02-29 12:00:00.5'`]
const numbers = ['0', '-0.01', '9999.99', '-9999.99', '10000', '-10000', `'NaN'`]
const wholes = ['0', '9007199254740991', '-9007199254740992', '9223372036854775807']

describe.skipIf(missing !== undefined)('rows of PostgreSQL', () => {
  testInspection({
    async open() {
      const schema = await testSchema()
      const { name, pool, run, drop } = schema
      return {
        storage: () => postgresStorage(pool),
        run: (statements) => run(statements.join(';')),
        empty: async () => {
          await run(`set client_min_messages = warning; drop schema ${name} cascade;
            create schema ${name}`)
        },
        drop,
      }
    },
    textType: 'text',
    jsonType: 'json',
    numbers: (n) => ['i', `from generate_series(1, ${n}) as i`],
    analyze: (table) => `analyze ${table}`,
    known: {
      statements: [
        'create table items (id bigint, price numeric, ratio double precision, day date, made timestamp(3), cost money, data json)',
        `insert into items values (1, 1.25, 'NaN', '0001-01-01', 'infinity', 1.5, '"\\ud800"'), (2, 1.255, 'Infinity', '10000-01-01', '2024-01-01', null, '["\\u0000"]'),
          (3, 'NaN', 1, '0044-03-15 BC', '0044-03-15 BC', 20000, '1e999'), (4, 1000000, -1, 'infinity', '9999-12-31 23:59:59.999', 1, '${'['.repeat(70)}${']'.repeat(70)}'), (null, null, null, null, null, null, '"\\ud83d\\ude00"'),
          (8, null, null, null, null, null, '1e100'), (8, null, null, null, null, null, null)`,
      ],
      fields: {
        id: integer(),
        price: decimal({ precision: 6, scale: 2 }),
        ratio: double(),
        day: date(),
        made: dateTime(),
        cost: decimal({ precision: 6, scale: 2, readOnly: true }),
        data: json(),
      },
      problems: [
        'duplicate id 1',
        'unfit cost 1',
        'unfit data 4',
        'unfit day 3',
        'unfit id 1',
        'unfit made 2',
        'unfit price 3',
        'unfit ratio 2',
      ],
    },
    columns: {
      size: ['bigint', integer(), ...wholes],
      price: [
        'numeric',
        decimal({ precision: 6, scale: 2 }),
        ...numbers,
        '2.5000',
        '1.255',
        '1e300',
      ],
      cost: ['numeric(12,2)', decimal({ precision: 6, scale: 2 }), ...numbers],
      ratio: ['double precision', double(), '0', `'NaN'`, `'-Infinity'`, '1e308'],
      day: ['date', date(), ...days],
      hour: ['time(0)', time(), `'00:00:00'`, `'23:59:59'`, `'24:00:00'`],
      made: ['timestamp(3)', dateTime(), ...times],
      whole: ['timestamp(3)', dateTime({ storedAs: 'seconds' }), ...times],
      cut: ['timestamptz', instant({ storedAs: 'microseconds' }), ...times],
      data: ['json', json(), ...oddJson],
      anyText: ['text', text({ maxLength: 2, enumeration: ['a'] }), `'a'`, `'other'`, `'é '`],
    },
  })
})
