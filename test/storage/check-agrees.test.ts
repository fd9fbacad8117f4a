import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storedForms } from '../../src/definition/stored-forms.ts'
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
  type CollectionDefinition,
  type Field,
} from '../../src/entries/index.ts'
import { markSelfChecking } from '../../src/storage/layers/self-checking.ts'
import type { StorageAdapter, StorageProblem } from '../../src/entries/storage.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { missingServer as missingMariaDb, perServer, testDatabase } from '../kit/mysql.ts'
import { missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'
import { oddJson } from './sql/inspection-cases.ts'

/** A database with tables of other programs. */
interface Database {
  storage(): StorageAdapter
  run(statement: string): Promise<unknown>
  drop(): Promise<void>
}

/** The types of its columns, each with the literals that a column of the type accepts. */
type ColumnTypes = Readonly<Record<string, fc.Arbitrary<string>>>

const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`
const oneOf = (...values: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...values)
const allOf = (...parts: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.oneof(...parts)
const strings = (part: fc.Arbitrary<string>): fc.Arbitrary<string> => part.map(quoted)

const digits = (most: number): fc.Arbitrary<string> =>
  fc.array(fc.nat(9), { minLength: 1, maxLength: most }).map((all) => all.join(''))
const zeros = fc.nat(4).map((count) => '0'.repeat(count))
/** Numbers with and without zeros at the end of their digits. */
const decimals = (whole: number, fraction: number): fc.Arbitrary<string> =>
  fc
    .tuple(oneOf('', '-'), digits(whole), fc.option(digits(fraction)), zeros)
    .map(([sign, before, after, end]) => {
      const number = before.replace(/^0+(?=\d)/, '')
      return `${sign}${number}${after === null && end === '' ? '' : `.${after ?? ''}${end}`}`
    })
const wholes = (bits: number): fc.Arbitrary<string> =>
  allOf(
    fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n }).map(String),
    fc.integer({ min: -3, max: 3 }).map(String),
  )
const edges = oneOf('9007199254740991', '9007199254740992', '-9007199254740992', '1')
const doubles = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => `${value}`)
const words = allOf(
  oneOf('', 'a', 'A', 'a ', ' ', 'true', 'f', 'Y', 'é', '\u{1f600}', '2.0', '-0', '.', 'x,y'),
  fc.string({ unit: 'grapheme', maxLength: 8 }).map((value) => value.replaceAll('\0', '')),
)
const moments = allOf(
  fc
    .date({ min: new Date('1980-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
    .map((at) => at.toISOString().slice(0, 23).replace('T', ' ')),
  oneOf('0001-01-01', '9999-12-31', '9999-12-31 23:59:59.999', '2024-02-29 12:00:00'),
  oneOf('2024-02-29 12:00:00.123456', '2024-02-29 00:00:00.1', '2024-01-01 00:00:00.000'),
)
const uuids = fc.uuid()
const numbersInJson = fc
  .tuple(wholes(32), fc.integer({ min: -420, max: 420 }))
  .map(([whole, power]) => `${whole}e${power}`)
const escapes = fc
  .array(oneOf('\\ud83d', '\\ude00', '\\uD800', '\\u0001', '\\\\', '\\"', 'a', '\\/'), {
    maxLength: 4,
  })
  .map((parts) => JSON.stringify('x').replace('x', () => parts.join('')))
const ownJson = allOf(
  fc.json({ maxDepth: 3 }).map((value) => value.replaceAll('\\u0000', '')),
  fc.integer({ min: 30, max: 34 }).map((depth) => `${'['.repeat(depth)}1${']'.repeat(depth)}`),
  numbersInJson.map((number) => `{"a": [${number}]}`),
)
const anyJson = allOf(ownJson, escapes, oneOf(...oddJson.map((literal) => literal.slice(1, -1))))

const postgresTypes: ColumnTypes = {
  numeric: allOf(
    decimals(8, 4),
    decimals(40, 3),
    oneOf(`'NaN'`, `'Infinity'`, `'-Infinity'`, '2.0', '2.000', '1e300', '-0.00', '1e-9'),
  ),
  'numeric(12,2)': allOf(decimals(8, 2), oneOf(`'NaN'`)),
  'numeric(5,0)': decimals(4, 1),
  money: decimals(6, 2).map(quoted),
  smallint: wholes(16),
  integer: wholes(32),
  bigint: allOf(wholes(64), edges),
  real: allOf(
    fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => `'${value}'`),
    oneOf(`'NaN'`),
  ),
  'double precision': allOf(strings(doubles), oneOf(`'NaN'`, `'-Infinity'`, `'-0'`)),
  text: strings(words),
  'varchar(8)': strings(words).map((literal) => `left(${literal}, 8)`),
  'char(8)': strings(words).map((literal) => `left(${literal}, 8)`),
  boolean: oneOf('true', 'false'),
  ...Object.fromEntries(
    ['date', 'timestamp', 'timestamp(0)', 'timestamp(2)', 'timestamp(3)', 'timestamptz']
      .concat('timestamptz(3)')
      .map((type) => [
        type,
        allOf(
          strings(moments),
          oneOf(`'infinity'`, `'-infinity'`, `'10000-01-01'`, `'0044-03-15 BC'`),
        ),
      ]),
  ),
  time: oneOf(`'10:00'`, `'24:00'`),
  'time(0)': oneOf(`'00:00:00'`, `'10:20:30'`, `'23:59:59'`, `'24:00'`),
  interval: oneOf(`'1 day'`, `'-3 months 2.5 seconds'`),
  uuid: strings(uuids),
  json: strings(anyJson),
  jsonb: strings(ownJson),
  'integer[]': oneOf(`'{}'`, `'{1,null}'`),
  inet: oneOf(`'10.0.0.1'`, `'::1/64'`),
}

// In the mode of the connection, a column of any type accepts every string, and stores the nearest value.
const anyString = strings(
  allOf(
    decimals(12, 4),
    allOf(wholes(64), edges, oneOf('18446744073709551615', '9223372036854775808')),
    doubles,
    words,
    moments,
    oneOf('0000-00-00', '2024-00-10', '2024-02-31', '0000-05-05', '24:00:00', '2024', '1', '0'),
    oneOf('00:00:00', '23:59:59', '09:60:00', '9:05:07', '-00:00:01', '838:59:59', '10:20:30.5'),
    allOf(
      uuids,
      uuids.map((id) => id.toUpperCase()),
    ),
  ),
)
const mariaDbTypes = (): ColumnTypes => ({
  ...Object.fromEntries(
    [
      ...['tinyint(1)', 'tinyint(1) unsigned', 'smallint', 'int zerofill', 'bigint'],
      ...['bigint unsigned', 'decimal(12,2)', 'decimal(5,0)', 'decimal(8,2) zerofill', 'float'],
      ...['double', 'double(8,3)', 'varchar(40)', 'char(40)', 'date', 'datetime', 'datetime(2)'],
      ...['datetime(3)', 'datetime(6)', 'timestamp null', 'timestamp(6) null', 'time', 'year'],
      ...['bit(1)', 'bit(5)', `enum('a','Y','true')`, `set('a','b')`],
      'varchar(36) character set ascii collate ascii_bin',
      'varchar(40) character set latin1',
    ].map((type) => [type, anyString]),
  ),
  longtext: allOf(
    anyString,
    strings(anyJson),
    oneOf(`concat('a', char(0))`, `'{'`, `'1.'`, `'"\\q"'`),
  ),
  // That of MySQL rejects much of it.
  ...perServer<ColumnTypes>({
    MariaDB: { json: strings(anyJson), uuid: strings(uuids), inet6: oneOf(`'::1'`) },
    MySQL: {},
  }),
})

const sqliteValues = allOf(
  anyString,
  strings(anyJson),
  decimals(8, 4),
  wholes(64),
  edges,
  doubles,
  fc
    .date({ min: new Date('1960-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .chain((at) => oneOf(`${at.getTime()}`, `${Math.floor(at.getTime() / 1000)}`, quoted(iso(at)))),
  moments.map((at) => quoted(`${at.replace(' ', 'T')}Z`)),
  uuids.chain((id) => {
    const hex = id.replaceAll('-', '')
    return oneOf(quoted(hex), quoted(hex.toUpperCase()), `x'${hex}'`, quoted(id.toUpperCase()))
  }),
  oneOf(`x''`, `x'61'`, `cast(x'61ff' as text)`, `'a' || char(0)`, '9e999', '-9e999', '-0.0'),
  oneOf(`'true'`, `'false'`, `'t'`, `'f'`, `'Y'`, `'N'`, '0', '1'),
)
const sqliteTypes: ColumnTypes = Object.fromEntries(
  ['', 'INTEGER', 'TEXT', 'REAL', 'NUMERIC', 'BLOB'].map((type) => [type, sqliteValues]),
)

function iso(at: Date): string {
  return at.toISOString()
}

const normalFields: readonly Field[] = [
  ...[text(), integer(), bigint(), double(), boolean(), date(), time(), dateTime(), instant()],
  ...[uuid(), decimal({ precision: 6, scale: 2 }), decimal({ precision: 38, scale: 0 }), json()],
]
const serverFields: readonly Field[] = [
  ...[text({ storedAs: 'char' }), json({ storedAs: 'jsonb' })],
  ...[dateTime({ storedAs: 'seconds' }), dateTime({ storedAs: 'microseconds' })],
  ...[instant({ storedAs: 'seconds' }), instant({ storedAs: 'microseconds' })],
]
const sqliteFields = Object.entries(storedForms).flatMap(([type, forms]) =>
  forms.map((storedAs) => {
    const decimals = type === 'decimal' ? { precision: 6, scale: 2 } : {}
    return { type, storedAs, ...decimals } as Field
  }),
)

function fieldsOf(fields: readonly Field[]): Readonly<Record<string, Field>> {
  const all = fields.flatMap((field) => [field, { ...field, readOnly: true }])
  return Object.fromEntries(all.map((field, index) => [`f${index}`, field]))
}

const databases = [
  {
    name: 'SQLite',
    missing: undefined,
    fields: fieldsOf([...normalFields, ...sqliteFields]),
    types: () => sqliteTypes,
    open: async (): Promise<Database> => {
      const handle = openHandle(drivers[0] as (typeof drivers)[number], ':memory:')
      return {
        storage: () => sqliteStorage(handle),
        run: async (statement) => {
          handle.exec(statement)
        },
        drop: async () => {
          handle.close()
        },
      }
    },
  },
  {
    name: 'PostgreSQL',
    missing: await missingPostgres(),
    fields: fieldsOf([...normalFields, ...serverFields]),
    types: () => postgresTypes,
    open: async (): Promise<Database> => {
      const { pool, run, drop } = await testSchema()
      return { storage: () => postgresStorage(pool), run, drop }
    },
  },
  {
    name: 'MariaDB',
    missing: await missingMariaDb(),
    fields: fieldsOf([...normalFields, ...serverFields]),
    types: mariaDbTypes,
    open: async (): Promise<Database> => {
      const { pool, run, drop } = await testDatabase()
      await run(`set sql_mode = 'ALLOW_INVALID_DATES,NO_BACKSLASH_ESCAPES'`)
      // Its type json is a text with a CHECK that rejects some of the JSON.
      await run(perServer({ MariaDB: 'set check_constraint_checks = 0', MySQL: 'select 1' }))
      return { storage: () => mysqlStorage(pool), run, drop }
    },
  },
]

const rowCount = 40

describe.each(databases)('$name', ({ name, missing, fields, types, open }) => {
  describe.skipIf(missing !== undefined)('and a check of its rows', () => {
    let database: Database
    let collections: Readonly<Record<string, CollectionDefinition>> = {}
    const declared = missing === undefined ? Object.entries(types()) : []

    beforeAll(async () => {
      database = await open()
      const columns = Object.keys(fields)
      for (const [index, [type]] of declared.entries()) {
        const own = columns.map((column) => `${column} ${type}`).join()
        await database.run(`create table t${index} (id integer not null primary key, ${own})`)
      }
      const all = collectionsOf(() => true)
      const mistakes = (await problemsOf(database.storage(), all)).flatMap(({ kind, message }) =>
        kind === 'table' ? [/^shop\/(t\d+\.f\d+):/.exec(message)?.[1]] : [],
      )
      const rejected = new Set(mistakes)
      collections = collectionsOf((place) => !rejected.has(place))
    }, 60_000)
    afterAll(() => database.drop())

    function collectionsOf(
      has: (place: string) => boolean,
    ): Readonly<Record<string, CollectionDefinition>> {
      return Object.fromEntries(
        declared.map((_, index) => {
          const own = Object.entries(fields).filter(([field]) => has(`t${index}.${field}`))
          const collection = { key: 'id', fields: { id: integer(), ...Object.fromEntries(own) } }
          return [`t${index}`, defineCollection(collection as CollectionDefinition)]
        }),
      )
    }

    async function problemsOf(
      storage: StorageAdapter,
      own: Readonly<Record<string, CollectionDefinition>>,
    ): Promise<readonly StorageProblem[]> {
      const applications = { shop: { collections: own } }
      const service = createService({ applications, storage, security: openAccess() })
      try {
        return await service.inspect()
      } finally {
        await service.close()
      }
    }

    test('a check finds the values that cannot be read, and no others: random values of every type', async () => {
      const rows = fc.tuple(
        ...declared.map(([, literal]) =>
          fc.array(literal, { minLength: rowCount, maxLength: rowCount }),
        ),
      )
      const used = new Set(Object.values(collections).flatMap((one) => Object.keys(one.fields)))
      expect(used.size).toBeGreaterThan(name === 'SQLite' ? 50 : 30)
      const brief = (problems: readonly StorageProblem[]): readonly string[] =>
        problems
          .map(({ kind, collection, fields: [field = ''], count, message }) => {
            if (kind === 'table') return message
            const index = Number(/\d+$/.exec(collection)?.[0])
            const { type, ...others } = (fields[field] ?? {}) as Field
            return [kind, declared[index]?.[0], type, JSON.stringify(others), count].join(' ')
          })
          .toSorted()
      const property = fc.asyncProperty(rows, async (values) => {
        for (const [index, literals] of values.entries()) {
          await database.run(`delete from t${index}`)
          const columns = Object.keys(fields)
          const lines = literals.map(
            (literal, at) => `(${[at, ...columns.map(() => literal)].join()})`,
          )
          await database.run(`insert into t${index} values ${lines.join()}`)
        }
        const found = await problemsOf(database.storage(), collections)
        const { inspect: _, ...plain } = database.storage()
        expect(brief(found)).toEqual(brief(await problemsOf(markSelfChecking(plain), collections)))
      })
      await fc.assert(property, {
        numRuns: Number(process.env['CHECK_RUNS'] ?? 2),
        endOnFailure: true,
      })
    }, 120_000)
  })
})
