import type { MessageCase } from '../message-case.ts'

const int = { type: 'integer' }
const text = { type: 'text' }
const short = { type: 'text', maxLength: 30 }
const id = { id: int }
const items = (fields: object, others: object = {}) => ({
  items: { key: 'id', fields: { ...id, ...fields }, ...others },
})
const plan = ['compare', 'diff', 'apply'] as const

/** Changes of tables, how they are planned, and what applying them says. */
export const changeCases: readonly MessageCase[] = [
  {
    name: 'everything is created, and then fits',
    sql: [],
    collections: {
      customers: {
        key: 'id',
        fields: { id: short, name: { ...short, unique: true }, city: { ...short, required: true } },
        index: [['-city', 'name'], ['city']],
        search: 'indexed',
      },
      orders: {
        key: ['year', 'number'],
        fields: {
          year: int,
          number: int,
          customer: { ...short, references: 'customers', onDelete: 'cascade', required: true },
          parent_year: int,
          parent_number: int,
          price: { type: 'decimal', precision: 9, scale: 2 },
          placed: { type: 'instant' },
          data: { type: 'json' },
          flag: { type: 'boolean' },
          code: { type: 'uuid' },
          day: { type: 'date' },
          at: { type: 'dateTime' },
          ratio: { type: 'double' },
          large: { type: 'bigint' },
        },
        references: [
          { fields: ['parent_year', 'parent_number'], collection: 'orders', onDelete: 'setNull' },
        ],
      },
      logged: { fields: { line: text } },
    },
    reports: ['diff', 'apply', 'introspect'],
  },
  {
    name: 'tables and columns are renamed',
    sql: [
      'create table clients (code {key} not null primary key, title {key} unique, old {text})',
      'create table orders (id {int} not null primary key, client {key}, foreign key (client) references clients (code))',
      `insert into clients values ('a', 'A', null)`,
      'create view titles as select title from clients',
    ],
    collections: {
      customers: {
        key: 'id',
        renamedFrom: 'clients',
        fields: {
          id: { ...short, renamedFrom: 'code' },
          name: { ...short, maxLength: 40, unique: true, renamedFrom: 'title' },
        },
      },
      orders: {
        key: 'id',
        fields: { ...id, customer: { ...short, renamedFrom: 'client', references: 'customers' } },
      },
      absent: {
        key: 'id',
        renamedFrom: 'nowhere',
        fields: { ...id, own: { ...int, renamedFrom: 'other' } },
      },
    },
    reports: plan,
  },
  {
    name: 'columns are added to rows without a value',
    sql: [
      'create table items (id {int} not null primary key, kind {key})',
      `insert into items values (1, null), (2, 'x'), (3, null)`,
    ],
    collections: items({
      free: text,
      needed: { ...int, required: true },
      filled: { ...short, required: true, default: `it's` },
      flag: { type: 'boolean', required: true, default: false },
      day: { type: 'date', required: true, default: '2024-02-29' },
      price: { type: 'decimal', precision: 8, scale: 2, required: true, default: '1.50' },
      data: { type: 'json', required: true, default: { a: [1, 'b'] } },
      kind: { ...short, maxLength: 40, required: true, default: 'new' },
      code: { ...short, unique: true, required: true, default: 'same' },
    }),
    reports: ['start', 'columns', 'check', ...plan],
  },
  {
    name: 'one row has no value',
    sql: [
      'create table items (id {int} not null primary key, kind {key})',
      `insert into items values (1, null)`,
    ],
    collections: items({
      kind: { ...short, maxLength: 40, required: true },
      needed: { ...int, required: true },
      code: { ...short, unique: true, required: true, default: 'same' },
    }),
    reports: ['start', 'columns', 'check', ...plan],
  },
  {
    name: 'the option fill gives values',
    sql: [
      'create table items (id {int} not null primary key, kind {key})',
      `insert into items values (1, null), (2, 'b')`,
    ],
    collections: items({
      kind: { ...short, maxLength: 40, required: true },
      needed: { ...int, required: true },
    }),
    options: ['--fill', 'items.kind=new', '--fill', 'shop/items.needed=7'],
    reports: plan,
  },
  {
    name: 'the option fill is wrong',
    sql: ['create table items (id {int} not null primary key)', 'insert into items values (1)'],
    collections: items({ needed: { ...int, required: true } }),
    options: ['--fill', 'items.needed=x'],
    reports: ['diff'],
  },
  {
    name: 'columns are dropped, with their indexes, views and keys',
    sql: [
      'create table parents (id {int} not null primary key, extra {key})',
      'create table items (id {int} not null primary key, name {text}, old {key}, seen {text}, kept {text}, parent {int}, twin {key}, foreign key (parent) references parents (id), unique (old, twin))',
      'create index items_old on items (old)',
      'create view shown as select seen from items',
      'create table unkeyed (id {int}, other {int}, primary key (id, other))',
    ],
    collections: {
      ...items({ name: text }, { unmanaged: { columns: ['kept'] } }),
      parents: { key: 'id', fields: id },
      unkeyed: { key: 'id', fields: id },
    },
    reports: plan,
  },
  {
    name: 'columns are redeclared',
    sql: [
      `create table items (id {int} not null primary key, size {key}, note {text}, price decimal(6,1), ratio float, code {key} not null, state {key} default '1', twice int)`,
      'create index items_size on items (size)',
      `insert into items (id, size, note, price, ratio, code) values (1, '7', 'a', 1.5, 0.5, '1'), (2, null, null, null, null, '2')`,
    ],
    collections: items({
      size: int,
      note: short,
      price: { type: 'decimal', precision: 9, scale: 3 },
      ratio: { type: 'double' },
      code: int,
      state: int,
      twice: { type: 'boolean' },
    }),
    reports: plan,
  },
  {
    name: 'the rows do not fit a redeclared column',
    sql: [
      'create table items (id {int} not null primary key, size {key})',
      `insert into items values (1, 'x')`,
    ],
    collections: items({ size: int }),
    reports: plan,
  },
  {
    name: 'a redeclared column has a view and a foreign key',
    sql: [
      'create table parents (id int not null primary key)',
      'create table items (id {int} not null primary key, parent int, foreign key (parent) references parents (id))',
      'create view shown as select parent from items',
    ],
    collections: {
      parents: { key: 'id', fields: { id: short } },
      ...items({ parent: { ...short, references: 'parents' } }),
    },
    reports: plan,
  },
  {
    name: 'columns allow and reject null',
    sql: {
      SQLite: [
        `create table items ("id" INTEGER CHECK ("id" BETWEEN -9007199254740991 AND 9007199254740991) NOT NULL, name TEXT, "size" INTEGER CHECK ("size" BETWEEN -9007199254740991 AND 9007199254740991) NOT NULL, state TEXT NOT NULL, kind TEXT NOT NULL DEFAULT 'a', PRIMARY KEY ("id")) STRICT`,
        `insert into items values (1, 'a', 2, 'b', 'c')`,
        'create table loose (id INTEGER UNIQUE, name TEXT -- the name\n)',
      ],
      PostgreSQL: [
        `create table items (id bigint not null primary key, name text, size bigint not null, state text not null, kind text not null default 'a')`,
        `insert into items values (1, 'a', 2, 'b', 'c')`,
        'create table loose (id bigint unique, name text)',
      ],
      MariaDB: [
        `create table items (id bigint not null primary key, name {text}, size bigint not null, state {text} not null, kind {key} not null default 'a')`,
        `insert into items values (1, 'a', 2, 'b', 'c')`,
        'create table loose (id bigint unique, name {text})',
      ],
    },
    collections: {
      ...items({ name: { ...text, required: true }, size: int, state: text, kind: text }),
      loose: { key: 'id', fields: { ...id, name: { ...text, required: true } } },
    },
    reports: plan,
  },
  {
    name: 'rows have null in a key, or the same unique values',
    sql: [
      'create table items (id {int}, name {key})',
      `insert into items values (1, 'same'), (null, 'same')`,
      'create table others (id {int} not null primary key, name {key})',
      `insert into others values (1, 'same'), (2, 'same')`,
    ],
    collections: {
      ...items({ name: { ...short, maxLength: 40 } }),
      others: { key: 'id', fields: { ...id, name: { ...short, maxLength: 40, unique: true } } },
    },
    reports: ['start', 'columns', 'check', ...plan],
  },
  {
    name: 'keys are numbered by the database',
    sql: [
      'create table items (id {int} not null primary key, name {text})',
      `insert into items values (7, 'a')`,
      'create table others (id int not null, primary key (id))',
      'create table texts (id {key} not null primary key)',
    ],
    collections: {
      items: { key: 'id', fields: { id: { ...int, generated: 'database' }, name: text } },
      others: { key: 'id', fields: { id: { ...int, generated: 'database' } } },
      texts: { key: 'id', fields: { id: { ...int, generated: 'database' } } },
    },
    reports: plan,
  },
]
