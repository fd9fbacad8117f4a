import * as fc from 'fast-check'
import type { FieldTypeName } from '../../src/definition/field.ts'
import type { DatabaseKind } from './empty-databases.ts'

/** A value of a column: as a literal of SQL, and as an item has it. */
type Sample = readonly [literal: string, wire: unknown]

/** A type of columns, and values of it. */
interface ColumnKind {
  readonly declared: string
  /** The type of the field that the column is. */
  readonly type: FieldTypeName
  readonly samples: readonly Sample[]
}

/** A column of a random table. */
interface RandomColumn {
  readonly name: string
  readonly kind: ColumnKind
  readonly isRequired: boolean
  readonly isUnique: boolean
  readonly hasCheck: boolean
  readonly hasDefault: boolean
  readonly computed: 'no' | 'stored' | 'virtual'
}

/** A table of a random schema, with rows. */
export interface FilledTable {
  readonly name: string
  readonly key: 'none' | 'always' | 'by default' | 'plain' | 'two'
  readonly columns: readonly RandomColumn[]
  /** The place of the table to which it refers, and what a delete there does. */
  readonly parent: { readonly at: number; readonly onDelete: string } | undefined
  readonly hasView: boolean
  /** For each row, the place of the sample of each column. There is none beyond the last one: the value is null. */
  readonly rows: readonly (readonly number[])[]
}

const text = (value: string): Sample => [`'${value.replaceAll("'", "''")}'`, value]
const number = (value: number): Sample => [String(value), value]
const same = (value: string): Sample => [`'${value}'`, value]

const words = [text("it's"), text(''), text('ü 😀'), text('open'), text('Open'), text('a,b ')]
const whole = [number(0), number(-5), number(2147483647), number(7)]
const doubles = [number(0.5), number(-1e100)]
const padded: readonly Sample[] = [text('ab'), text('NO'), [`'x  '`, 'x']]
const decimals: readonly Sample[] = [
  ['1.5', '1.50'],
  ['-0.01', '-0.01'],
]
const days = [same('2024-02-29'), same('0001-01-01')]
const uuids = ['6f1e8a52-0c1d-4c1e-8a52-0c1d4c1e8a52', '00000000-0000-4000-8000-000000000000']
const json: readonly Sample[] = [[`'{"b":[1.50],"a":null}'`, { b: [1.5], a: null }]]

const kind = (declared: string, type: FieldTypeName, samples: readonly Sample[]): ColumnKind => ({
  ...{ declared, type, samples },
})

const kindsOf: Readonly<Record<DatabaseKind['name'], readonly ColumnKind[]>> = {
  SQLite: [
    kind('INTEGER', 'integer', whole),
    kind('TEXT', 'text', words),
    kind('VARCHAR(12)', 'text', words),
    kind('REAL', 'double', doubles),
    kind('UUID', 'uuid', uuids.map(same)),
    kind('DATE', 'date', days),
  ],
  PostgreSQL: [
    kind('integer', 'integer', whole),
    kind('bigint', 'integer', whole),
    kind('text', 'text', words),
    kind('varchar(12)', 'text', words),
    kind('char(6)', 'text', padded),
    kind('numeric(8,2)', 'decimal', decimals),
    kind('double precision', 'double', doubles),
    kind('boolean', 'boolean', [
      ['true', true],
      ['false', false],
    ]),
    kind('date', 'date', days),
    kind('timestamptz(0)', 'instant', [same('2024-02-29T10:20:30Z'), same('1999-12-31T23:59:59Z')]),
    kind('uuid', 'uuid', uuids.map(same)),
    kind('json', 'json', json),
  ],
  MariaDB: [
    kind('int', 'integer', whole),
    kind('bigint', 'integer', whole),
    kind('varchar(12)', 'text', words),
    kind('varchar(12) collate utf8mb4_general_ci', 'text', [
      text("it's"),
      text('a,b'),
      text('Ünn'),
    ]),
    kind('char(6)', 'text', padded),
    kind('decimal(8,2)', 'decimal', decimals),
    kind('double', 'double', doubles),
    kind('tinyint(1)', 'boolean', [
      ['1', true],
      ['0', false],
    ]),
    kind('date', 'date', days),
    kind('datetime(3)', 'dateTime', [[`'2024-02-29 10:20:30'`, '2024-02-29T10:20:30']]),
    kind('uuid', 'uuid', uuids.map(same)),
    kind('json', 'json', json),
  ],
}

const tableNames = ['orders', 'Orders', 'order items', 'Ключи', 'select', 'a.b', `x"y`, 'v_1']
const columnNames = [
  ...['name', 'Total', 'unit price', 'ключ', 'select', 'a.b', `x"y`, "it's", '2nd', '$count'],
  ...['state', 'constructor', 'item', 'limit'],
]
const actions = ['NO ACTION', 'RESTRICT', 'CASCADE', 'SET NULL']
const parentColumn = 'parent id'

const oneOf = (sides: number) => fc.nat(sides - 1).map((side) => side === 0)

/** Returns random tables with rows, whose names the database distinguishes. */
export function filledTables({
  name: database,
}: DatabaseKind): fc.Arbitrary<readonly FilledTable[]> {
  const column = (name: string): fc.Arbitrary<RandomColumn> =>
    fc.record({
      name: fc.constant(name),
      kind: fc.constantFrom(...kindsOf[database]),
      isRequired: fc.boolean(),
      isUnique: oneOf(6),
      hasCheck: oneOf(4),
      hasDefault: oneOf(4),
      computed: fc.constantFrom('no', 'no', 'no', 'no', 'stored', 'virtual'),
    })
  const table = (name: string, at: number): fc.Arbitrary<FilledTable> =>
    fc.record({
      name: fc.constant(name),
      key: fc.constantFrom('none', 'always', 'by default', 'plain', 'two'),
      columns: fc
        .uniqueArray(fc.constantFrom(...columnNames), { minLength: 1, maxLength: 5 })
        .chain((chosen) => fc.tuple(...chosen.map(column))),
      parent: fc.option(fc.record({ at: fc.nat(at), onDelete: fc.constantFrom(...actions) }), {
        nil: undefined,
      }),
      hasView: oneOf(4),
      rows: fc.array(fc.array(fc.nat(5), { minLength: 5, maxLength: 5 }), { maxLength: 4 }),
    })
  const selector = (name: string): string => (database === 'SQLite' ? name.toLowerCase() : name)
  return fc
    .uniqueArray(fc.constantFrom(...tableNames), { minLength: 1, maxLength: 4, selector })
    .chain((names) => fc.tuple(...names.map(table)))
}

/** Returns the statements that create tables and views, and those that insert rows, of which some may be rejected. */
export function fillingStatements(
  database: DatabaseKind,
  tables: readonly FilledTable[],
): { readonly created: readonly string[]; readonly rows: readonly string[] } {
  const created = tables.flatMap((table) => {
    const name = database.quoted(table.name)
    const view = `CREATE VIEW ${database.quoted(`view of ${table.name}`)} AS SELECT * FROM ${name}`
    return [createTable(database, table, tables), ...(table.hasView ? [view] : [])]
  })
  const rows = tables.flatMap((table) =>
    table.rows.map((_, index) =>
      insertRow(database, { table, parent: parentOf(table, tables), index }),
    ),
  )
  return { created, rows }
}

/** Returns the values that the rows of a table may have in a column, as items have them. */
export function possibleValues({ kind: { samples } }: RandomColumn): readonly unknown[] {
  return [null, ...samples.map(([, value]) => value)]
}

function createTable(
  { name: database, quoted }: DatabaseKind,
  table: FilledTable,
  tables: readonly FilledTable[],
): string {
  const type = database === 'SQLite' ? 'INTEGER' : 'bigint'
  const lines = [
    ...keyLines(database, type, table.key),
    ...table.columns.map((column) => columnLine({ database, quoted }, column, table)),
  ]
  const parent = parentOf(table, tables)
  if (table.parent !== undefined && parent !== undefined) {
    const [column, other] = [quoted(parentColumn), quoted(parent.name)]
    lines.push(`${column} ${type}`)
    // MariaDB gives two keys of tables whose names differ in case the same name.
    const constraint = `CONSTRAINT parent_${tables.indexOf(table)} FOREIGN KEY (${column})`
    lines.push(`${constraint} REFERENCES ${other} (id) ON DELETE ${table.parent.onDelete}`)
  }
  if (table.key === 'two') lines.push('PRIMARY KEY (id, part)')
  return `CREATE TABLE ${quoted(table.name)} (\n  ${lines.join(',\n  ')}\n)`
}

function parentOf(
  { parent }: FilledTable,
  tables: readonly FilledTable[],
): FilledTable | undefined {
  const found = parent === undefined ? undefined : tables[parent.at]
  return found?.key === 'none' || found?.key === 'two' ? undefined : found
}

function keyLines(
  database: DatabaseKind['name'],
  type: string,
  key: FilledTable['key'],
): readonly string[] {
  if (key === 'none') return []
  if (key === 'two') return [`id ${type} NOT NULL`, 'part varchar(8) NOT NULL']
  if (key === 'plain' || database === 'SQLite') return [`id ${type} NOT NULL PRIMARY KEY`]
  if (database === 'MariaDB') return [`id ${type} NOT NULL AUTO_INCREMENT PRIMARY KEY`]
  return [`id ${type} GENERATED ${key.toUpperCase()} AS IDENTITY PRIMARY KEY`]
}

function columnLine(
  { database, quoted }: Pick<DatabaseKind, 'quoted'> & { readonly database: DatabaseKind['name'] },
  column: RandomColumn,
  table: FilledTable,
): string {
  const { name, kind, isRequired, isUnique, hasCheck, hasDefault, computed } = column
  const { declared, type, samples } = kind
  const start = `${quoted(name)} ${declared}`
  const source = sourceOf(column, table)
  if (source !== undefined) {
    // PostgreSQL 15 has stored columns only.
    const how = computed === 'stored' || database === 'PostgreSQL' ? 'STORED' : 'VIRTUAL'
    return `${start} GENERATED ALWAYS AS (${quoted(source.name)}) ${how}`
  }
  const literals = samples.map(([literal]) => literal)
  const isComparable = type !== 'json'
  return [
    start,
    ...(isRequired ? ['NOT NULL'] : []),
    ...(hasDefault && isComparable ? [`DEFAULT ${literals[0] ?? 'NULL'}`] : []),
    ...(isUnique && isComparable ? ['UNIQUE'] : []),
    ...(hasCheck && ['integer', 'text'].includes(type)
      ? [`CHECK (${quoted(name)} IN (${literals.join(', ')}))`]
      : []),
  ].join(' ')
}

/** Returns the column whose values a computed column has. */
function sourceOf(column: RandomColumn, { columns }: FilledTable): RandomColumn | undefined {
  if (column.computed === 'no' || column.kind.type === 'json') return undefined
  return columns.find((each) => each.computed === 'no' && each.kind === column.kind)
}

function insertRow(
  { name: database, quoted }: DatabaseKind,
  {
    table,
    parent,
    index,
  }: {
    readonly table: FilledTable
    readonly parent: FilledTable | undefined
    readonly index: number
  },
): string {
  const values = new Map<string, string>()
  if (table.key === 'plain' || table.key === 'two') values.set('id', String(index + 1))
  if (table.key === 'two') values.set('part', `'p${index}'`)
  for (const [at, column] of table.columns.entries()) {
    if (sourceOf(column, table) !== undefined) continue
    values.set(column.name, column.kind.samples[table.rows[index]?.[at] ?? 0]?.[0] ?? 'NULL')
  }
  if (parent !== undefined) values.set(parentColumn, `(SELECT max(id) FROM ${quoted(parent.name)})`)
  const into = `INSERT INTO ${quoted(table.name)}`
  if (values.size === 0)
    return database === 'MariaDB' ? `${into} () VALUES ()` : `${into} DEFAULT VALUES`
  return `${into} (${[...values.keys()].map(quoted).join(', ')}) VALUES (${[...values.values()].join(', ')})`
}
