import type { MessageCase } from '../message-case.ts'

const int = { type: 'integer' }
const text = { type: 'text' }
const short = { type: 'text', maxLength: 40 }
const id = { id: int }
const readOnly = { publishes: ['Filter'] }
const sales = {
  customers: {
    key: 'id',
    fields: { id: short, name: { ...short, unique: true }, city: short },
    index: [['-city', 'name']],
    search: 'indexed',
  },
  orders: {
    key: ['year', 'number'],
    unique: [['number', 'customer']],
    fields: {
      year: int,
      number: int,
      customer: { ...short, references: 'customers', onDelete: 'cascade' },
      next: { ...short, references: 'customers', onDelete: 'setNull' },
    },
  },
}

/** Tables that do not fit, and why a service does not start. */
export const tableCases: readonly MessageCase[] = [
  {
    name: 'tables are missing',
    sql: [],
    collections: {
      ...sales,
      notes: {
        key: 'id',
        fields: { id: { ...int, generated: 'database' }, state: { ...text, default: 'database' } },
      },
    },
    reports: ['start', 'check', 'diff'],
  },
  {
    name: 'columns are missing',
    sql: ['create table customers (city {key})', 'create table orders (number {int} not null)'],
    collections: sales,
    reports: ['start', 'check', 'diff', 'columns'],
  },
  {
    name: 'names are in another case',
    sql: ['create table ITEMS (ID {int} not null primary key, Name {text})'],
    collections: {
      items: { key: 'id', table: 'Items', fields: { id: int, name: { ...text, column: 'NAME' } } },
    },
    reports: ['start', 'check', 'diff'],
  },
  {
    name: 'keys and unique fields have no unique index',
    sql: [
      'create table keyless (id {int})',
      'create table pairs (one {int}, two {int}, three {int} not null, unique (one, two, three))',
      'create table nullable (id {int} unique)',
      'create table uniques (id {int} not null primary key, name {key}, city {key}, code {key})',
      'create index uniques_name on uniques (name)',
    ],
    collections: {
      keyless: { key: 'id', fields: id },
      pairs: { key: ['one', 'two'], fields: { one: int, two: int, three: int } },
      nullable: { key: 'id', fields: id },
      uniques: {
        key: 'id',
        fields: { id: int, name: { ...short, unique: true }, city: short, code: short },
        unique: [['code', 'city']],
      },
    },
    reports: ['start', 'check', 'diff', 'apply'],
  },
  {
    name: 'a unique index is partial or of an expression',
    sql: {
      SQLite: [
        'create table items (id {int} not null, name {text})',
        'create unique index own on items (id) where id > 0',
        'create unique index lower_name on items (lower(name))',
      ],
      PostgreSQL: [
        'create table items (id {int} not null, name {text})',
        'create unique index own on items (id) where id > 0',
        'create unique index lower_name on items (lower(name))',
      ],
      MariaDB: [
        'create table items (id {int} not null, name {text})',
        'create unique index own on items (name(10))',
      ],
    },
    collections: { items: { key: 'id', fields: { id: int, name: { ...short, unique: true } } } },
    reports: ['start', 'diff'],
  },
  {
    name: 'a column is not numbered',
    sql: [
      'create table items (id {int} not null, primary key (id))',
      'create table others (id {int} not null unique)',
    ],
    collections: {
      items: { key: 'id', fields: { id: { ...int, generated: 'database' } } },
      others: { key: 'id', fields: { id: { ...int, generated: 'database' } } },
    },
    reports: ['start', 'check', 'diff', 'apply'],
  },
  {
    name: 'a column has no default',
    sql: [
      `create table items (id {int} not null primary key, state {key}, kind {key} default 'new')`,
      'create view seen as select * from items',
    ],
    collections: {
      items: {
        key: 'id',
        fields: {
          id: int,
          state: { ...short, default: 'database' },
          kind: { ...short, default: 'database' },
          absent: { ...short, default: 'database' },
        },
      },
      seen: { fields: { id: int, state: { ...short, default: 'database' } }, ...readOnly },
    },
    reports: ['start', 'check', 'diff', 'apply'],
  },
  {
    name: 'views are written, searched or lack a column',
    sql: [
      'create table items (id {int} not null primary key, name {text})',
      'create view written as select * from items',
      'create view searched as select * from items',
      'create view short as select id from items',
      'create view fitting as select id, name from items',
    ],
    collections: {
      written: { key: 'id', fields: { ...id, name: text } },
      searched: { key: 'id', fields: { ...id, name: text }, search: 'indexed', ...readOnly },
      short: { key: 'id', fields: { ...id, name: text }, ...readOnly },
      fitting: { key: 'id', fields: { ...id, name: { ...text, unique: true } }, ...readOnly },
    },
    reports: ['start', 'check', 'diff', 'apply'],
  },
  {
    name: 'a search index is missing, or for other fields',
    sql: ['create table items (id {int} not null primary key, name {text}, city {text})'],
    collections: {
      items: {
        key: 'id',
        fields: { ...id, name: text, city: { ...text, search: false } },
        search: 'indexed',
      },
    },
    reports: ['start', 'check', 'diff', 'apply'],
  },
  {
    name: 'names are too long, or have U+0000',
    sql: [],
    collections: {
      long: {
        key: 'id',
        table: 't'.repeat(70),
        fields: { id: { ...int, column: 'c'.repeat(70) } },
      },
      wide: { key: 'id', table: 'ü'.repeat(40), fields: id },
    },
    reports: ['start', 'check', 'diff'],
  },
  {
    name: 'a name has U+0000',
    sql: [],
    collections: {
      items: { key: 'id', table: 'a\0b', fields: { id: { ...int, column: 'c\0d' } } },
    },
    reports: ['start', 'diff'],
  },
  {
    name: 'shared tables have other keys',
    sql: [],
    collections: {
      one: { key: 'id', table: 'items', fields: { ...id, name: short } },
      two: { key: 'name', table: 'items', fields: { ...id, name: short } },
    },
    reports: ['start', 'diff'],
  },
  {
    name: 'names have quotes',
    sql: [],
    collections: {
      odd: {
        key: 'id',
        table: `it's "odd" \`here\` \\`,
        fields: { id: { ...int, column: `a"b\`c'd` } },
      },
    },
    reports: ['start', 'diff', 'apply'],
  },
  {
    name: 'forms of stored values are of another database',
    sql: [],
    collections: {
      items: {
        key: 'id',
        fields: {
          ...id,
          days: { type: 'date', storedAs: 'unixSeconds' },
          moment: { type: 'dateTime', storedAs: 'YYYY-MM-DD hh:mm:ss.ffffff' },
          price: { type: 'decimal', precision: 8, scale: 2, storedAs: 'real' },
          flag: { type: 'boolean', storedAs: 'Y/N' },
          key: { type: 'uuid', storedAs: 'blob' },
          padded: { type: 'text', storedAs: 'char' },
          short: { type: 'dateTime', storedAs: 'seconds' },
          long: { type: 'instant', storedAs: 'microseconds' },
          data: { type: 'json', storedAs: 'jsonb' },
        },
      },
    },
    reports: ['start', 'check', 'diff'],
  },
  {
    name: 'columns are computed',
    sql: {
      SQLite: [
        'create table items (id {int} not null primary key, size {int}, twice {int} generated always as (size * 2) stored, half {int} as (size / 2))',
      ],
      PostgreSQL: [
        'create table items (id {int} not null primary key, size {int}, twice {int} generated always as (size * 2) stored, half {int} generated always as (size / 2) stored)',
        'create table numbered (id {int} generated always as identity primary key, other {int} generated always as (1) stored)',
        'create table counted (id {int} primary key, number {int} generated always as identity)',
      ],
      MariaDB: [
        'create table items (id {int} not null primary key, size {int}, twice {int} generated always as (size * 2) stored, half {int} as (size / 2) virtual)',
      ],
    },
    collections: {
      items: {
        key: 'id',
        fields: { ...id, size: int, twice: int, half: { ...int, readOnly: true } },
      },
    },
    reports: ['start', 'check', 'diff', 'apply', 'introspect'],
  },
  {
    name: 'columns are always numbered',
    sql: {
      PostgreSQL: [
        'create table numbered (id {int} generated always as identity primary key, name {text})',
        'create table counted (id {int} primary key, number {int} generated always as identity)',
      ],
    },
    collections: {
      numbered: { key: 'id', fields: { ...id, name: text } },
      counted: { key: 'id', fields: { ...id, number: int } },
    },
    reports: ['start', 'check', 'diff', 'introspect'],
  },
  {
    name: 'tables are shared, with other types and keys',
    sql: [],
    collections: {
      one: { key: 'id', table: 'items', fields: { ...id, size: int, name: short } },
      two: { key: 'id', table: 'items', fields: { ...id, size: text, other: int } },
      three: { key: 'name', table: 'items', fields: { name: short } },
    },
    reports: ['start', 'check', 'diff', 'apply'],
  },
  {
    name: 'shared tables lack columns',
    sql: [
      'create table items (id {int} not null primary key)',
      'insert into items values (1), (2)',
    ],
    collections: {
      one: { key: 'id', table: 'items', fields: { ...id, size: { ...int, required: true } } },
      two: {
        key: 'id',
        table: 'ITEMS',
        fields: { ...id, SIZE: { ...int, required: true }, name: short },
      },
    },
    reports: ['start', 'columns', 'diff', 'apply'],
  },
]
