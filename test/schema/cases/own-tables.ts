import type { MessageCase } from '../message-case.ts'

const int = { type: 'integer' }
const text = { type: 'text' }
const id = { id: int }
const plain = { key: 'id', fields: { ...id, name: text } }

/** Tables that only one database has, and why a service does not start. */
export const ownTableCases: readonly MessageCase[] = [
  {
    name: 'foreign keys cannot be checked',
    on: ['SQLite'],
    sql: [
      'create table parents (one integer, two integer, name text, primary key (one, two))',
      'create table a (id integer primary key, name text references nowhere)',
      'create table b (id integer primary key, name text references parents)',
      'create table c (id integer primary key, name text references parents (name))',
      'create table d (id integer primary key, name text references parents (absent))',
      'create table e (id integer primary key, name text, foreign key (id, name) references parents (one, three))',
    ],
    collections: { a: plain, b: plain, c: plain, d: plain, e: plain },
    reports: ['start', 'check', 'diff', 'introspect'],
  },
  {
    name: 'triggers, constraints and indexes need what only another program has',
    on: ['SQLite'],
    sql: [
      'create table a (id integer primary key, name text)',
      'create trigger a_insert after insert on a begin select own_function(new.id); end',
      'create table b (id integer primary key, name text)',
      'create trigger b_delete after delete on b begin select own_function(old.id); end',
      'create table c (id integer primary key, name text, other text)',
      'create trigger c_update after update of name on c begin select own_function(old.id); end',
      'create table d (id integer primary key, name text default (1 + 2))',
      'create trigger d_update after update on d begin select own_function(old.id); end',
      'create table e (id integer primary key, name text check (length(name) > 2))',
      'pragma writable_schema = on',
      `update sqlite_schema set sql = replace(sql, 'length(name)', 'own_function(name)') where name = 'e'`,
      `update sqlite_schema set sql = replace(sql, '1 + 2', 'own_default(1)') where name = 'd'`,
      'pragma writable_schema = off',
      'create view broken as select * from nowhere',
      'create view computed as select id, own_function(id) as name from a',
    ],
    collections: {
      a: plain,
      b: plain,
      c: { key: 'id', fields: { ...id, name: text, other: text } },
      d: { key: 'id', fields: { ...id, name: { ...text, default: 'database' } } },
      e: plain,
      broken: { key: 'id', fields: { ...id, name: text }, publishes: ['Filter'] },
      computed: { key: 'id', fields: { ...id, name: text }, publishes: ['Filter'] },
    },
    reports: ['start', 'check', 'diff', 'introspect'],
  },
  {
    name: 'an update of the only column fails',
    on: ['SQLite'],
    sql: [
      'create table items (id integer primary key, name text)',
      'create trigger items_update after update on items begin select own_function(old.id); end',
    ],
    collections: { items: plain },
    reports: ['start', 'check', 'introspect'],
  },
  {
    name: 'a collation is unknown, so that a table cannot be copied',
    on: ['SQLite'],
    sql: [
      'create table items (id integer primary key, name text, size text)',
      'create index items_name on items (name)',
      'pragma writable_schema = on',
      `update sqlite_schema set sql = 'create index items_name on items (name collate own_order)' where name = 'items_name'`,
      'pragma writable_schema = off',
    ],
    collections: { items: { key: 'id', fields: { ...id, name: text, size: int } } },
    reports: ['start', 'check', 'diff'],
  },
  {
    name: 'the file is not in UTF-8',
    on: ['SQLite'],
    sql: [`pragma encoding = 'UTF-16le'`, 'create table items (id integer primary key, name text)'],
    collections: { items: plain },
    reports: ['start', 'check', 'diff', 'introspect'],
  },
  {
    name: 'a CHECK is for another definition of the field',
    on: ['SQLite'],
    sql: [
      `create table items (
  "id" INTEGER CHECK ("id" BETWEEN -9007199254740991 AND 9007199254740991) NOT NULL,
  "size" INTEGER CHECK ("size" BETWEEN -9007199254740991 AND 9007199254740991),
  "flag" INTEGER CHECK ("flag" IN (0, 1)),
  PRIMARY KEY ("id")
) STRICT`,
    ],
    collections: {
      items: {
        key: 'id',
        fields: { ...id, size: { type: 'bigint' }, flag: int },
      },
    },
    reports: ['start', 'check', 'diff', 'apply'],
  },
  {
    name: 'tables are virtual, strict, without rowid, or made by a query',
    on: ['SQLite'],
    sql: [
      'create virtual table found using fts5(name)',
      'create table strict_items (id integer primary key, name any) strict',
      'create table keyed (id text primary key, name text) without rowid',
      `create table made as select 1 as id, 'x' as name`,
      'create table numbered (id integer primary key autoincrement, name text)',
      'create table int_key (id int primary key, name text)',
    ],
    collections: {
      found: { fields: { name: text }, search: 'indexed' },
      strict_items: plain,
      keyed: { key: 'id', fields: { id: text, name: text }, search: 'indexed' },
      made: plain,
      numbered: { key: 'id', fields: { id: { ...int, generated: 'database' }, name: int } },
      int_key: { key: 'id', fields: { id: { ...int, generated: 'database' }, name: text } },
    },
    reports: ['start', 'check', 'diff', 'apply', 'introspect'],
  },
  {
    name: 'tables have other engines, or versions',
    on: ['MariaDB'],
    sql: [
      'create table aria (id bigint primary key, name {text}) engine=Aria',
      'create table read_aria (id bigint primary key, name {text}) engine=Aria',
      'create table versioned (id bigint primary key, name {text}) with system versioning',
      'create sequence numbers',
    ],
    collections: {
      aria: plain,
      read_aria: { key: 'id', fields: { ...id, name: text }, publishes: ['Filter'] },
      versioned: plain,
    },
    reports: ['start', 'check', 'diff', 'apply', 'introspect'],
  },
  {
    name: 'an interrupted change has left a constraint',
    on: ['MariaDB'],
    sql: [
      'create table items (id bigint primary key, name {key}, constraint rowgate_length check (char_length(name) <= 30))',
    ],
    collections: { items: { key: 'id', fields: { ...id, name: { ...text, maxLength: 30 } } } },
    reports: ['start', 'diff', 'apply'],
  },
  {
    name: 'tables are partitions, children, materialized or have rules',
    on: ['PostgreSQL'],
    sql: [
      'create table measured (id bigint not null, name text) partition by range (id)',
      'create table measured_low partition of measured for values from (0) to (100)',
      'create table parents (id bigint primary key, name text)',
      'create table children (extra text) inherits (parents)',
      'create materialized view kept as select * from parents',
      'create table ruled (id bigint primary key, name text)',
      'create rule ruled_insert as on insert to ruled do also select 1',
      'create unlogged table unlogged_items (id bigint primary key, name text)',
      'create sequence numbers',
      'create type pair as (one int, two int)',
    ],
    collections: {
      measured: plain,
      measured_low: plain,
      parents: plain,
      children: plain,
      kept: plain,
      ruled: plain,
      numbers: plain,
    },
    reports: ['start', 'check', 'diff', 'introspect'],
  },
  {
    name: 'unique constraints are deferred, and indexes invalid or descending',
    on: ['PostgreSQL'],
    sql: [
      'create table items (id bigint primary key deferrable, name text unique deferrable initially deferred, city text)',
      'create index items_city on items (city desc nulls last, name nulls first)',
      'create unique index items_covering on items (city) include (name)',
    ],
    collections: {
      items: {
        key: 'id',
        fields: { ...id, name: { ...text, unique: true }, city: { ...text, unique: true } },
        index: [['-city', 'name']],
      },
    },
    reports: ['start', 'diff', 'introspect'],
  },
]
