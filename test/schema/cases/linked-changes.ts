import type { MessageCase } from '../message-case.ts'

const int = { type: 'integer' }
const text = { type: 'text' }
const short = { type: 'text', maxLength: 40 }
const id = { id: int }
const to = (collection: string, onDelete?: string) => ({
  ...int,
  references: collection,
  ...(onDelete === undefined ? {} : { onDelete }),
})
const plan = ['compare', 'diff', 'apply'] as const
const parents = { key: 'id', fields: id }

/** Changes of foreign keys and of search indexes. */
export const linkedChangeCases: readonly MessageCase[] = [
  {
    name: 'foreign keys are added, redeclared and dropped',
    sql: [
      'create table parents (id {int} not null primary key)',
      'create table items (id {int} not null primary key, plain {int}, restricted {int}, cascading {int}, extra {int}, kept {int}, foreign key (restricted) references parents (id), foreign key (cascading) references parents (id) on delete cascade, foreign key (extra) references parents (id), foreign key (kept) references parents (id))',
    ],
    collections: {
      parents,
      items: {
        key: 'id',
        fields: {
          ...id,
          plain: to('parents'),
          restricted: to('parents', 'cascade'),
          cascading: to('parents', 'setNull'),
          extra: int,
          kept: int,
        },
        unmanaged: { foreignKeys: [['kept']] },
      },
    },
    reports: ['start', ...plan, 'introspect'],
  },
  {
    name: 'foreign keys of several columns, and circles',
    sql: [],
    collections: {
      pairs: {
        key: ['one', 'two'],
        fields: { one: int, two: short, item: { ...to('items'), required: true } },
      },
      items: {
        key: 'id',
        fields: {
          ...id,
          one: { ...int, required: true },
          two: short,
          self: to('items', 'setNull'),
        },
        references: [{ fields: ['one', 'two'], collection: 'pairs' }],
      },
    },
    reports: plan,
  },
  {
    name: 'foreign keys cannot refer: a view, other types, no unique index',
    sql: [
      'create table parents (id int not null primary key, name {key})',
      'create view seen as select * from parents',
      'create table loose (id {int})',
      'create table items (id {int} not null primary key, seen {int}, other {int}, loose {int})',
    ],
    collections: {
      parents,
      seen: { key: 'id', fields: id, publishes: ['Filter'] },
      loose: { key: 'id', fields: id },
      items: {
        key: 'id',
        fields: { ...id, seen: to('seen'), other: to('parents'), loose: to('loose') },
      },
    },
    reports: ['start', ...plan, 'introspect'],
  },
  {
    name: 'the rows break a foreign key',
    sql: [
      'create table parents (id {int} not null primary key)',
      'create table items (id {int} not null primary key, parent {int})',
      'insert into items values (1, 5), (2, null)',
    ],
    collections: { parents, items: { key: 'id', fields: { ...id, parent: to('parents') } } },
    reports: ['start', 'check', ...plan],
  },
  {
    name: 'a search index is created with its table, and changed',
    sql: [
      'create table items (id {int} not null primary key, name {text}, [City] {key}, size {int})',
      `insert into items values (1, 'one', 'Oslo', 4)`,
    ],
    collections: {
      items: {
        key: 'id',
        fields: { ...id, name: text, City: short, size: int },
        search: 'indexed',
      },
      others: { key: 'id', fields: { ...id, name: text }, search: 'indexed' },
    },
    reports: ['start', ...plan],
  },
  {
    name: 'a search index is dropped, or for other fields',
    sql: {
      PostgreSQL: [
        'create table items (id bigint primary key, name text)',
        'create index rowgate_search_0123456789abcdef on items (name)',
        'create table others (id bigint primary key, name text)',
        'create index rowgate_search_fedcba9876543210 on others (name)',
      ],
      SQLite: [
        'create table items (id integer primary key, name text)',
        `create virtual table rowgate_search_items using fts5(name, tokenize = 'trigram')`,
        'create trigger rowgate_search_items_insert after insert on items begin select 1; end',
        'create table others (id integer primary key, name text)',
        'create trigger rowgate_search_others_insert after insert on others begin select 1; end',
      ],
    },
    collections: {
      items: { key: 'id', fields: { ...id, name: text } },
      others: { key: 'id', fields: { ...id, name: text }, search: 'indexed' },
    },
    reports: ['start', 'check', ...plan],
  },
  {
    name: 'a table with triggers, indexes and numbers is rebuilt',
    on: ['SQLite'],
    sql: [
      'create table items (id integer primary key autoincrement, size text, note text /* a note */, other int unique) ',
      'create index items_size on items (size, other)',
      'create table log (line text)',
      'create trigger items_insert after insert on items begin insert into log values (new.size); end',
      `insert into items (size, note) values ('1', 'a')`,
      'create table own (id integer primary key, size text default 1, kind text collate nocase, checked text check (checked > 0))',
    ],
    collections: {
      items: {
        key: 'id',
        fields: { id: { ...int, generated: 'database' }, size: int, note: text, other: int },
      },
      own: { key: 'id', fields: { ...id, size: int, kind: int, checked: int } },
    },
    reports: ['start', ...plan],
  },
  {
    name: 'columns of domains, arrays, enumerations and other collations',
    on: ['PostgreSQL'],
    sql: [
      'create domain amount as numeric(8,2) not null',
      `create domain kind as text check (value in ('a', 'b'))`,
      `create type mood as enum ('sad', 'ok')`,
      `create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
      `create table items (id bigint primary key, amount amount, kind kind, mood mood default 'ok', moods mood[], city text collate loose unique)`,
    ],
    collections: {
      items: {
        key: 'id',
        fields: {
          ...id,
          amount: { type: 'decimal', precision: 8, scale: 3 },
          kind: int,
          mood: text,
          moods: text,
          city: { ...text, unique: true },
        },
      },
    },
    reports: ['start', 'check', ...plan, 'introspect'],
  },
  {
    name: 'columns of other character sets, with comments and ON UPDATE',
    on: ['MariaDB'],
    sql: [
      `create table items (id bigint primary key, latin varchar(20) character set latin1 not null comment 'it''s', folded varchar(20) collate utf8mb4_general_ci unique, changed timestamp default current_timestamp on update current_timestamp, hidden int invisible, kind enum('a','b') not null, checked int check (checked > 1))`,
    ],
    collections: {
      items: {
        key: 'id',
        fields: {
          ...id,
          latin: { ...text, maxLength: 10, unique: true },
          folded: { ...text, unique: true },
          changed: { type: 'instant' },
          hidden: text,
          kind: int,
          checked: text,
        },
      },
    },
    reports: ['start', 'check', ...plan, 'introspect'],
  },
]
