import { databases } from './empty-databases.ts'
import { reads, testSchemas } from './exercised-schemas.ts'

testSchemas(databases.SQLite, {
  'generated keys and columns': {
    create: [
      'create table numbered (id integer primary key, title text, loud text as (upper(title)) stored)',
      `insert into numbered (title) values ('a'), ('b')`,
      'create table counted (id integer primary key autoincrement, title text, quiet text as (lower(title)) virtual)',
      `insert into counted (title) values ('A'), (null)`,
      'create table doubled (w integer not null, title text, twice integer not null as (w * 2) stored unique)',
      `insert into doubled (w, title) values (1, 'a'), (2, 'b')`,
    ],
    values: { doubled: { w: 9 } },
    // It decides the key.
    others: { 'doubled.w': [] },
  },
  'columns whose names differ in case only': {
    create: [
      'create table things (id integer primary key, "é" text unique, "É" integer not null default 7)',
      `insert into things (id, "é") values (1, 'a'), (2, null)`,
    ],
  },
  'numeric keys': {
    create: [
      'create table parts (id numeric not null primary key, name text, price numeric)',
      `insert into parts values (1, 'one', 1.5), (2.0, 'two', 1.50), (3, 'three', null)`,
      'create table uses (id decimal(10,0) not null primary key, part numeric references parts, amount decimal(8,2))',
      'insert into uses values (1, 2, 0.10), (2, 2.0, 0.1), (3, 3, -0.1), (4, null, 0)',
      'create table rates (rate decimal(6,2) not null primary key, name text)',
      `insert into rates values (1.5, 'low'), (20, 'high')`,
    ],
  },
  'JSON that no field can have': {
    create: [
      `create table notes (id integer primary key, doc text check (json_valid(doc)), large text check (json_valid(large)),
        deep text check (json_valid(deep)))`,
      `insert into notes values (1, '{"a": 1.50}', '1e400', '${'['.repeat(33)}${']'.repeat(33)}'),
        (2, '[]', '[1]', null), (3, null, null, '[]')`,
    ],
    others: { 'notes.large': ['[2]'], 'notes.deep': ['[1]'] },
    notes: ['notes.large: ', 'notes.deep: '],
  },
  'lists of fixed length': {
    create: [
      `create table shirts (id integer primary key, size char(3) not null check (size in ('S', 'M  ', 'XL ', '')),
        tone varchar(3) check (tone in ('a ', 'b')))`,
      `insert into shirts values (1, 'M  ', 'a '), (2, 'S', null)`,
    ],
  },
  'columns with the JSON subtype': {
    create: [
      `create table docs (id integer primary key, doc text not null, name text as (json_extract(doc, '$.name')) virtual,
        tags text as (doc -> '$.tags') virtual, first text as (doc ->> '$.tags[0]') stored,
        pair text as (json_object('id', id, 'doc', json(doc))) virtual)`,
      `insert into docs (doc) values ('{"name":"a","tags":["x","y"]}'), ('{"name":{"first":"b"},"tags":[]}'), ('{}')`,
    ],
    others: { 'docs.doc': ['{"name":"c"}'] },
  },
  'foreign keys that cannot be checked': {
    create: [
      'pragma foreign_keys = off',
      'create table parents (id integer primary key, code text)',
      'create table children (id integer primary key, code text references parents (code), note text)',
      'create table orphans (id integer primary key, other integer references nowhere (id), note text)',
      `insert into parents values (1, 'a'), (2, 'b')`,
      `insert into children values (1, 'a', 'x'), (2, null, 'y')`,
      `insert into orphans values (1, null, 'x'), (2, 5, 'y')`,
    ],
    done: {
      ...{ parents: reads, children: ['Filter', 'Update'], orphans: ['Filter', 'Update'] },
    },
    notes: ['orphans: no insert and no delete: '],
  },
  'what a definition cannot express': {
    create: [
      'create table a (id integer not null primary key, b integer references b (id) on delete cascade, raw blob)',
      'create table b (id integer not null primary key, a integer references a (id) on delete cascade, code text not null unique)',
      `create table parts (id integer not null primary key, code text not null references b (code) on delete cascade,
        a integer default 1 references a (id) on delete set default)`,
      `insert into a values (1, null, x'00ff'), (2, null, null)`,
      `insert into b values (1, 1, 'x'), (2, null, 'y')`,
      `insert into parts values (1, 'x', 1), (2, 'y', 2)`,
    ],
    others: { 'parts.code': ['y'] },
  },
  'times and documents of frameworks': {
    create: [
      `create table posts (id integer not null primary key autoincrement, slug varchar(50) not null unique,
        created_at datetime(6) not null, updated_at datetime(6), day date, is_draft bool not null,
        data json, price decimal(10, 2), ratio double(8,3))`,
      `insert into posts values (1, 'a', '2024-03-10 09:30:00.123456', '2024-03-10 09:30:00', '2024-03-10', 0, '{"b":1.50}', 12.5, 0.25),
        (2, 'b', '2024-03-10 09:30:00', null, null, 1, 'null', null, null)`,
    ],
  },
  'views that work, and some that cannot be read': {
    create: [
      'create table words (word text not null primary key, size integer)',
      `insert into words values ('a', 1), ('b', 2)`,
      'create view long_words as select word from words where size > 1',
      'create view broken as select missing from words',
      'create view failing as select word, no_function(word) as odd from words',
    ],
    done: { 'long-words': reads },
    leftOut: ['broken', 'failing'],
  },
  'texts that ignore case': {
    create: [
      `create table orders (id integer primary key, code text collate nocase not null unique, status text collate nocase check (status in ('Open', 'it''s')))`,
      `insert into orders values (1, 'a~b', 'Open'), (2, 'A~C', 'OPEN'), (3, 'x', 'IT''S'), (4, 'y', null)`,
      'create table places (town text not null, street text not null, primary key (town, street)) without rowid',
      `insert into places values ('a;b', 'c d'), ('ö', '%2f')`,
    ],
  },
})
