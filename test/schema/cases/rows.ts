import type { MessageCase } from '../message-case.ts'

const int = { type: 'integer' }
const text = { type: 'text' }
const short = { type: 'text', maxLength: 5 }
const id = { id: int }
const fields = {
  ...id,
  name: short,
  pattern: { type: 'text', pattern: '^[a-z]+$' },
  size: int,
  price: { type: 'decimal', precision: 6, scale: 2 },
  ratio: { type: 'double' },
  day: { type: 'date' },
  at: { type: 'dateTime' },
  moment: { type: 'instant' },
  code: { type: 'uuid' },
  data: { type: 'json' },
  flag: { type: 'boolean' },
  large: { type: 'bigint' },
}

/** Rows that cannot be published, and what a check says of them. */
export const rowCases: readonly MessageCase[] = [
  {
    name: 'values do not fit their fields',
    sql: {
      SQLite: [
        'create table items (id integer primary key, name text, pattern text, size integer, price text, ratio real, day text, at text, moment text, code text, data text, flag integer, large integer)',
        `insert into items values (1, 'longer than five', 'A1', 9007199254740993, '1.5', 9e999, '2024-02-30', '2024-01-01', '2024-01-01T00:00:00Z', 'x', '{', 2, 1.5)`,
        `insert into items values (2, 'ok', 'abc', 1, '1.50', 1.5, '2024-02-29', '2024-01-01T10:00:00', '2024-01-01T00:00:00.000Z', '00000000-0000-4000-8000-000000000000', '{}', 1, 7)`,
        `insert into items values (3, x'00', 'abc'||char(0), 'x', '12345.00', 'y', 5, '2024-01-01 10:00:00', 'z', 7, '1e999', 'no', 'many')`,
        `insert into items (id, name) values (4, cast(x'ff' as text)), (5, null)`,
      ],
      PostgreSQL: [
        'create table items (id bigint primary key, name text, pattern text, size bigint, price numeric(8,2), ratio double precision, day date, at timestamp(3), moment timestamptz(3), code uuid, data json, flag boolean, large bigint)',
        `insert into items values (1, 'longer than five', 'A1', 9007199254740993, 99999.5, 'Infinity', '10000-01-01', 'infinity', '0001-01-01 BC', '00000000-0000-4000-8000-000000000000', '"\\u0000"', true, 1)`,
        `insert into items values (2, 'ok', 'abc', 1, 1.5, 'NaN', 'infinity', '20000-01-01', '-infinity', null, '1e999', false, 7)`,
        `insert into items (id, size) values (3, -9007199254740993)`,
      ],
      MariaDB: [
        'create table items (id bigint primary key, name {text}, pattern {text}, size bigint, price decimal(8,2), ratio double, day date, at datetime(3), moment datetime(3), code char(36) character set ascii collate ascii_bin, data {text}, flag tinyint(1), large bigint)',
        `set session sql_mode = ''`,
        `insert into items values (1, 'longer than five', 'A1', 9007199254740993, 99999.5, 1.5, '0000-00-00', '0000-00-00', '0000-00-00', 'x', '{', 5, 1)`,
        `insert into items values (2, 'ok', 'abc', 1, 1.5, -1.5, '2024-02-29', '2024-01-01', '2024-01-01', '00000000-0000-4000-8000-00000000000A', '1e999', 1, 7)`,
        `insert into items (id, size) values (3, -9007199254740993)`,
      ],
    },
    collections: { items: { key: 'id', fields } },
    reports: ['start', 'check'],
  },
  {
    name: 'values fit another form, or none',
    on: ['SQLite'],
    sql: [
      'create table items (id integer primary key, at text, day text, moment text, plain text, flag text, code text, price real, seconds integer)',
      `insert into items values (1, '2024-01-01', '2024-01-01 00:00:00', '2024-01-01 10:00:00.5', '2024-01-01 10:00:00', 'true', '0123456789ABCDEF0123456789ABCDEF', 1.005, 10)`,
      `insert into items values (2, '2024-01-01 10:00:00', '2024-01-01 00:00:00', '2024-01-01 10:00:00.123456', '2024-01-01 10:00:00', 'false', '0123456789ABCDEF0123456789ABCDE0', 2.5, 1.5)`,
    ],
    collections: {
      items: {
        key: 'id',
        fields: {
          ...id,
          at: { type: 'dateTime', storedAs: 'YYYY-MM-DD hh:mm:ss[.fff]' },
          day: { type: 'date' },
          moment: { type: 'instant', storedAs: 'YYYY-MM-DDThh:mm:ssZ' },
          plain: { type: 'dateTime' },
          flag: { type: 'boolean', storedAs: 'Y/N' },
          code: { type: 'uuid' },
          price: { type: 'decimal', precision: 8, scale: 2, storedAs: 'real' },
          seconds: { type: 'instant', storedAs: 'unixSeconds' },
        },
      },
    },
    reports: ['check'],
  },
  {
    name: 'a normal form would fit',
    on: ['SQLite'],
    sql: [
      'create table items (id integer primary key, at text, code text)',
      `insert into items values (1, '2024-01-01T10:00:00', '00000000-0000-4000-8000-000000000000')`,
    ],
    collections: {
      items: {
        key: 'id',
        fields: {
          ...id,
          at: { type: 'dateTime', storedAs: 'YYYY-MM-DD hh:mm:ss.fff' },
          code: { type: 'uuid', storedAs: 'hex' },
        },
      },
    },
    reports: ['check'],
  },
  {
    name: 'values of other types are shown',
    sql: {
      PostgreSQL: [
        `create type mood as enum ('sad', 'ok', 'happy')`,
        'create table items (id bigint primary key, mood mood, padded char(5), number numeric, data jsonb, at timestamp, price money)',
        `insert into items values (1, 'sad', 'ab', 1.234, '1e999', '10000-01-01', 12345678.9), (2, 'ok', 'abc', 'NaN', '{}', '2024-01-01 10:00:00.123456', 1)`,
      ],
      MariaDB: [
        `create table items (id bigint primary key, mood enum('sad','ok','happy'), padded char(5), number int unsigned, data json, at datetime(6), price double(8,2))`,
        `set session sql_mode = ''`,
        `insert into items values (1, 'sad', 'ab', 4294967295, '1e999', '0000-00-00', 1.5), (2, 'other', 'abc', 1, '{}', '2024-01-01 10:00:00.123456', 12345.5)`,
      ],
    },
    collections: {
      items: {
        key: 'id',
        fields: {
          ...id,
          mood: { type: 'text', enumeration: ['sad', 'ok', 'happy'] },
          padded: { type: 'text', storedAs: 'char', maxLength: 2 },
          number: { type: 'decimal', precision: 8, scale: 0 },
          data: { type: 'json', storedAs: 'jsonb' },
          at: { type: 'dateTime', storedAs: 'microseconds' },
          price: { type: 'decimal', precision: 8, scale: 2, readOnly: true },
        },
      },
    },
    reports: ['start', 'check'],
  },
  {
    name: 'required values are missing, and keys cannot be in a path',
    sql: [
      'create table items (id {key} not null primary key, name {key})',
      `insert into items values ('', 'a'), ('.', null), ('..', null), ('a,b', 'x'), ('ok', 'y')`,
      'create table pairs (one {key} not null, two {int} not null, name {key}, primary key (one, two))',
      `insert into pairs values ('', 1, 'a'), ('a,b', 2, null), ('ok', 3, 'b')`,
    ],
    collections: {
      items: {
        key: 'id',
        fields: { id: { ...text, maxLength: 40 }, name: { ...text, required: true } },
      },
      pairs: {
        key: ['one', 'two'],
        fields: { one: text, two: int, name: { ...text, required: true } },
      },
    },
    reports: ['check', 'introspect'],
  },
  {
    name: 'references are broken, and unique values repeated',
    sql: [
      'create table parents (id {int}, code {key})',
      `insert into parents values (1, 'a'), (1, 'a'), (2, 'b'), (null, 'b'), (3, null)`,
      'create table items (id {int} not null primary key, parent {int}, code {key}, other {key})',
      `insert into items values (1, 1, 'a', 'x'), (2, 7, 'a', 'x'), (3, 8, 'c', 'x'), (4, 9, 'd', 'y'), (5, 10, null, null), (6, null, null, null)`,
    ],
    collections: {
      parents: { key: 'id', fields: { ...id, code: { ...text, unique: true } } },
      items: {
        key: 'id',
        fields: {
          ...id,
          parent: { ...int, references: 'parents' },
          code: { ...text, unique: true },
          other: text,
        },
        unique: [['code', 'other']],
      },
    },
    reports: ['start', 'check'],
  },
  {
    name: 'one row is wrong',
    sql: [
      'create table parents (id {int} not null primary key)',
      'create table items (id {int} not null primary key, parent {int}, name {key})',
      `insert into items values (1, 7, 'same'), (2, null, 'same'), (9007199254740993, null, null)`,
    ],
    collections: {
      parents: { key: 'id', fields: id },
      items: {
        key: 'id',
        fields: {
          ...id,
          parent: { ...int, references: 'parents' },
          name: { ...text, required: true, unique: true },
        },
      },
    },
    reports: ['check'],
  },
  {
    name: 'views and tables cannot be read',
    sql: [
      'create table amounts (id {int} not null primary key, size {int})',
      'insert into amounts values (1, 1), (2, 9007199254740993)',
      'create view broken as select id, (select b.size from amounts b where b.id > 0) as size from amounts',
      'create view fitting as select id, size from amounts',
    ],
    collections: {
      broken: {
        key: 'id',
        publishes: ['Filter'],
        fields: { ...id, size: { ...int, references: 'amounts' } },
      },
      fitting: {
        key: 'id',
        publishes: ['Filter'],
        fields: { ...id, size: { ...int, references: 'broken' } },
      },
      amounts: { key: 'id', fields: { ...id, size: int } },
      absent: { key: 'id', fields: { ...id, amount: { ...int, references: 'amounts' } } },
    },
    reports: ['start', 'check', 'introspect'],
  },
]
