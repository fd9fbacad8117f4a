import type { MessageCase } from '../message-case.ts'

/** Tables that a definition can only describe in part. */
export const describedCases: readonly MessageCase[] = [
  {
    name: 'foreign keys that a definition cannot express',
    sql: {
      SQLite: [
        'create table parents (id integer primary key, code text unique, kind text)',
        'create table keyless (id integer unique)',
        'create table a (id integer primary key, parent integer references parents (id) on delete set default, code text references parents (code), absent integer references nowhere (id), keyless integer references keyless (id), fixed integer not null references parents (id) on delete set null)',
        'create table b (id integer primary key, c integer references c (id) on delete cascade)',
        'create table c (id integer primary key, b integer references b (id) on delete cascade, text_key text references parents (id))',
        'create table d (parent integer references parents (id) on delete cascade, deferred integer references parents (id) deferrable initially deferred)',
      ],
      PostgreSQL: [
        'create table parents (id bigint primary key, code text unique, kind text)',
        'create table keyless (id bigint unique)',
        'create table a (id bigint primary key, parent bigint default 1 references parents (id) on delete set default, code text references parents (code), keyless bigint references keyless (id), fixed bigint not null references parents (id) on delete set null, small smallint references parents (id))',
        'create table b (id bigint primary key, c bigint)',
        'create table c (id bigint primary key, b bigint references b (id) on delete cascade)',
        'alter table b add foreign key (c) references c (id) on delete cascade',
        'create table d (parent bigint references parents (id) on delete cascade, deferred bigint references parents (id) deferrable initially deferred)',
      ],
      MariaDB: [
        'create table parents (id bigint primary key, code {key} unique, kind {key})',
        'create table keyless (id bigint unique)',
        'create table a (id bigint primary key, code {key}, keyless bigint, foreign key (code) references parents (code), foreign key (keyless) references keyless (id))',
        'create table b (id bigint primary key, c bigint)',
        'create table c (id bigint primary key, b bigint, foreign key (b) references b (id) on delete cascade)',
        'alter table b add foreign key (c) references c (id) on delete cascade',
        'create table d (parent bigint, foreign key (parent) references parents (id) on delete cascade)',
      ],
    },
    reports: ['introspect'],
  },
  {
    name: 'values decide which field a column is',
    on: ['SQLite'],
    sql: [
      "create table items (id integer primary key, mixed, blobs blob, nul text, big text, huge, created_at text, updated datetime(6), birthday text, is_open, flag text check (flag in ('Y', 'N')), data json, note numeric, price decimal(8,2), long varchar(3), external_id text, state text default 'new' check (state in ('new', 'old')), bad_default integer default 'x', never blob, ratio)",
      `insert into items values (1, 'a', x'00', 'a'||char(0), '1', 1e300, '2024-01-01 10:00:00', '2024-01-01 10:00:00', '2024-01-01', 1, 'Y', '{"a":1}', 'x', 1.5, 'longer', '00000000-0000-4000-8000-000000000000', 'new', 1, null, 0.5)`,
      `insert into items values (2, 7, x'01', 'b', '2', 9223372036854775807, '2024-01-02 11:00:00.5', '2024-01-01 10:00:00.123456', '2024-01-02', 0, 'N', '1e999', 'y', 2.25, 'b', '00000000-0000-4000-8000-000000000001', 'old', 2, null, 9e999)`,
      'create table [Empty] (id integer primary key, untyped, at datetime, price numeric, data json)',
      'create table __proto__ (id integer primary key)',
      'create table odd (id integer primary key, __proto__ text, "" text, "select" text, "two words" text)',
      'create table rowgate_own (id integer primary key)',
      'create table only_blobs (data blob)',
      `insert into only_blobs values (x'00')`,
      'create table null_key (id text primary key, name text)',
      `insert into null_key values (null, 'a'), ('', 'b')`,
    ],
    reports: ['introspect'],
  },
  {
    name: 'checks, defaults, odd names and computed columns',
    sql: {
      PostgreSQL: [
        `create table items (id bigint primary key, state text not null default 'new' check (state in ('new', 'old')), size int check (size in (1, 2)), made timestamptz default now(), "Two words" text, "__proto__" text, "Name" text, "name" text, bytes bytea not null, free numeric, nothing xml)`,
        'create table "__proto__" (id bigint primary key)',
        'create table rowgate_own (id bigint primary key)',
        'create table only_bytes (data bytea)',
        'create table keyed (free numeric primary key, name text)',
        `insert into keyed values (1, 'a'), (12345678901234567890123456789012345678901, 'b')`,
        'create table texts (id text primary key, moment timestamp, ratio real, data json)',
        `insert into texts values ('', 'infinity', 0.1, '"\\u0000"'), ('a,b', null, null, null)`,
        'create table empty_columns ()',
      ],
      MariaDB: [
        `create table items (id bigint primary key, state varchar(10) not null default 'new' check (state in ('new', 'old')), size int check (size in (1, 2)), made timestamp default current_timestamp, \`Two words\` text, \`__proto__\` text, bytes blob not null, zero date, flags set('a','b'), bits bit(3))`,
        'create table `__proto__` (id bigint primary key)',
        'create table rowgate_own (id bigint primary key)',
        'create table only_bytes (data blob)',
        `set session sql_mode = ''`,
        `insert into items (id, state, size, bytes, zero) values (1, 'new', 1, 'x', '0000-00-00')`,
        'create table texts (id varchar(40) primary key, moment datetime(1), ratio float, data json)',
        `insert into texts values ('', '2024-01-01', 0.1, '1e999'), ('a,b', null, null, null)`,
      ],
    },
    reports: ['introspect'],
  },
  {
    name: 'JSON and texts that fit no field',
    sql: {
      PostgreSQL: [
        'create table keyed (id bigint primary key, data jsonb, plain json)',
        `insert into keyed values (1, '{"b": 1, "a": 2}', '{}')`,
        'create table keyless (data jsonb)',
        `insert into keyless values ('[1]')`,
        'create table full_range (id bigint primary key, amount numeric(8,2), day date, ratio real)',
        `insert into full_range values (9223372036854775807, 'NaN', 'infinity', 0.1)`,
      ],
      MariaDB: [
        'create table keyed (id bigint primary key, data json, plain {text} check (json_valid(plain)))',
        `insert into keyed values (1, '{"b": 1, "a": 2}', '{}')`,
        `create table nul (id bigint primary key, name {text}, code char(36) character set ascii collate ascii_bin)`,
        `insert into nul values (1, concat('a', char(0)), 'x')`,
      ],
      SQLite: [
        'create table keyed (id integer primary key, data json, plain text check (json_valid(plain)))',
        `insert into keyed values (1, '{"b": 1, "a": 2}', '{}'), (2, null, '1e999')`,
      ],
    },
    reports: ['introspect'],
  },
]
