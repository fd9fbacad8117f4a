import type { DatabaseName, MessageCase } from '../message-case.ts'

const decimal = { type: 'decimal', precision: 8, scale: 2 }
const whole = { type: 'decimal', precision: 10, scale: 0 }

/** The fields that are compared with a column of each type. */
const fields: Readonly<Record<string, { readonly type: string }>> = {
  text: { type: 'text' },
  integer: { type: 'integer' },
  bigint: { type: 'bigint' },
  decimal,
  whole,
  double: { type: 'double' },
  boolean: { type: 'boolean' },
  date: { type: 'date' },
  time: { type: 'time' },
  datetime: { type: 'dateTime' },
  instant: { type: 'instant' },
  uuid: { type: 'uuid' },
  json: { type: 'json' },
}

/** The same in other forms, or read-only. */
const serverForms: typeof fields = {
  text_char: { type: 'text', storedAs: 'char' } as never,
  text_listed: { type: 'text', enumeration: ['sad', 'ok'] } as never,
  text_read: { type: 'text', readOnly: true } as never,
  decimal_read: { ...decimal, readOnly: true } as never,
  double_read: { type: 'double', readOnly: true } as never,
  datetime_s: { type: 'dateTime', storedAs: 'seconds' } as never,
  datetime_us: { type: 'dateTime', storedAs: 'microseconds' } as never,
  datetime_read: { type: 'dateTime', readOnly: true } as never,
  instant_s: { type: 'instant', storedAs: 'seconds' } as never,
  instant_us: { type: 'instant', storedAs: 'microseconds' } as never,
  json_read: { type: 'json', readOnly: true } as never,
  json_b: { type: 'json', storedAs: 'jsonb' } as never,
}

const fileForms: typeof fields = {
  text_read: { type: 'text', readOnly: true } as never,
  real: { ...decimal, storedAs: 'real' } as never,
  words: { type: 'boolean', storedAs: 'Y/N' } as never,
  date_s: { type: 'date', storedAs: 'unixSeconds' } as never,
  date_long: { type: 'date', storedAs: 'YYYY-MM-DD hh:mm:ss' } as never,
  datetime_ms: { type: 'dateTime', storedAs: 'unixMilliseconds' } as never,
  datetime_us: { type: 'dateTime', storedAs: 'YYYY-MM-DD hh:mm:ss[.ffffff]' } as never,
  instant_s: { type: 'instant', storedAs: 'unixSeconds' } as never,
  uuid_hex: { type: 'uuid', storedAs: 'hex' } as never,
  uuid_blob: { type: 'uuid', storedAs: 'blob' } as never,
}

const types: Readonly<Record<DatabaseName, readonly string[]>> = {
  SQLite: [
    ...['TEXT', 'VARCHAR(20)', 'INTEGER', 'BIGINT', 'BOOLEAN', 'REAL', 'DOUBLE PRECISION'],
    ...['DECIMAL(8,2)', 'DATE', 'DATETIME', 'UUID', 'JSON', 'BLOB', '', 'TIME'],
  ],
  PostgreSQL: [
    ...['text', 'varchar(20)', 'char(3)', 'text collate "C"', 'name', '"char"'],
    ...[
      'smallint',
      'integer',
      'bigint',
      'numeric',
      'numeric(8,2)',
      'numeric(10,0)',
      'numeric(40,2)',
    ],
    ...['real', 'double precision', 'money', 'boolean', 'date', 'time', 'interval'],
    ...['timestamp', 'timestamp(0)', 'timestamp(1)', 'timestamp(3)', 'timestamptz'],
    ...['timestamptz(0)', 'timestamptz(1)', 'timestamptz(3)', 'uuid', 'json', 'jsonb', 'bytea'],
    ...['inet', 'bit(3)', 'integer[]', 'xml', 'point', 'mood', 'mood[]', 'amount', 'time(0)'],
  ],
  MariaDB: [
    ...['{text}', '{key}', 'varchar(20) character set latin1', 'char(3)', 'mediumtext'],
    ...['char(36) character set ascii collate ascii_bin', `enum('sad','ok')`, `set('sad','ok')`],
    ...['tinyint', 'tinyint(1)', 'smallint', 'mediumint', 'int', 'int unsigned', 'int zerofill'],
    ...['bigint', 'bigint unsigned', 'decimal(8,2)', 'decimal(8,2) zerofill', 'decimal(10,0)'],
    ...['decimal(40,2)', 'float', 'double', 'double(8,2)', 'double unsigned', 'bit(1)', 'bit(8)'],
    ...['year', 'date', 'time', 'datetime', 'datetime(1)', 'datetime(3)', 'datetime(6)'],
    ...['timestamp null', 'timestamp(1) null', 'timestamp(3) null', 'timestamp(6) null'],
    ...['uuid', 'json', 'inet4', 'inet6', 'blob', 'binary(16)', 'point', 'time(3)'],
  ],
}

const needed: Readonly<Partial<Record<DatabaseName, readonly string[]>>> = {
  PostgreSQL: [`create type mood as enum ('sad', 'ok')`, 'create domain amount as numeric(8,2)'],
}

/** Values of columns, by type: some fit the field that introspection chooses, others do not. */
const values: Readonly<Record<string, readonly string[]>> = {
  json: [`'{"a": 1}'`, `'[]'`],
  jsonb: [`'{"a": 1}'`, `'1e999'`],
}

/** Every field on a column of every type. */
export const columnCases: readonly MessageCase[] = (
  Object.keys(types) as readonly DatabaseName[]
).flatMap((name) => {
  const all = { ...fields, ...(name === 'SQLite' ? fileForms : serverForms) }
  const created = needed[name] ?? []
  return [
    ...types[name].map((type): MessageCase => ({
      name: `fields on columns of type ${type}`,
      sql: {
        [name]: [
          ...created,
          `create table items (id {int} not null primary key, ${Object.keys(all)
            .map((column) => `f_${column} ${type}`)
            .join(', ')})`,
        ],
      },
      collections: {
        items: {
          key: 'id',
          fields: {
            id: { type: 'integer' },
            ...Object.fromEntries(
              Object.entries(all).map(([column, field]) => [`f_${column}`, field]),
            ),
          },
        },
      },
      reports: ['fit'],
    })),
    describedCase(name, false),
    describedCase(name, true),
  ]
})

/** A table with a column of each type, which is described. */
function describedCase(name: DatabaseName, hasKey: boolean): MessageCase {
  const columns = types[name].map((type, index) => `c${index} ${type}`)
  const id = hasKey ? ['id {int} not null primary key'] : []
  const given = types[name].flatMap((type, index) =>
    (values[type] ?? []).map(
      (value, row) =>
        `insert into items (${hasKey ? 'id, ' : ''}c${index}) values (${hasKey ? `${10 * index + row}, ` : ''}${value})`,
    ),
  )
  return {
    name: `columns of each type are described, ${hasKey ? 'with' : 'without'} a key`,
    sql: {
      [name]: [
        ...(needed[name] ?? []),
        `create table items (${[...id, ...columns].join(', ')})`,
        ...given,
      ],
    },
    reports: ['introspect'],
  }
}
