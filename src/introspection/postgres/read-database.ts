import type { Field } from '../../definition/field.ts'
import {
  readSchema,
  type PostgresColumn,
  type PostgresReference,
  type PostgresTable,
} from '../../storage/postgres/catalogue.ts'
import { fitTerm } from '../../storage/postgres/value-fit.ts'
import { bind, type Connection } from '../../storage/sql/connection.ts'
import { identifier, join, sql, type Sql } from '../../storage/sql/fragments.ts'
import {
  formOf,
  type ColumnDescription,
  type DatabaseDescription,
  type LeftOut,
  type ReferenceDescription,
  type TableDescription,
} from '../description.ts'
import { allowedValues } from './checks.ts'
import { candidateFields, type Candidates } from './column-fields.ts'

/**
 * Describes the tables of a schema of a PostgreSQL database in one snapshot. Columns whose type allows values that
 * their field can't hold, such as `infinity`, are read.
 *
 * @param only the tables to describe; all if it is empty
 */
export async function describePostgres(
  connection: Connection,
  schema: string,
  only: readonly string[] = [],
): Promise<DatabaseDescription> {
  await connection.command('begin isolation level repeatable read read only')
  try {
    const found = await readSchema(connection, schema)
    const isNamed = ({ name }: PostgresTable): boolean => only.length === 0 || only.includes(name)
    return await describe(connection, found.filter(isNamed))
  } finally {
    await connection.command('rollback')
  }
}

async function describe(
  connection: Connection,
  found: readonly PostgresTable[],
): Promise<DatabaseDescription> {
  const names = new Map(found.map(({ id, name }) => [id, name]))
  const tables: TableDescription[] = []
  const leftOut: LeftOut[] = []
  for (const table of found) {
    const reason = reasonToLeaveOut(table)
    if (reason === undefined) tables.push(await describeTable(connection, table, names))
    else leftOut.push({ name: table.name, reason })
  }
  return { tables, leftOut }
}

function reasonToLeaveOut({ name, columns, parent, extension }: PostgresTable): string | undefined {
  if (/^rowgate_/i.test(name)) return 'a table of rowgate'
  if (name === '__proto__') return 'its name is reserved by JavaScript'
  if (extension !== undefined) return `belongs to the extension ${extension}`
  if (parent !== undefined) return `a partition of ${parent}`
  if (columns.length > 0 && !columns.some(({ isReadable }) => isReadable))
    return "the role can't read it"
  return undefined
}

const readOnlyKinds: Readonly<Record<string, string>> = {
  v: 'a view',
  m: 'a materialized view',
  f: 'a foreign table',
}

async function describeTable(
  connection: Connection,
  table: PostgresTable,
  names: ReadonlyMap<string, string>,
): Promise<TableDescription> {
  const { columns, indexes, primary, references } = table
  const uniques = indexes
    .filter(({ unique }) => unique)
    .flatMap((index) => {
      const group = index.columns.map(({ name }) => name)
      return group.every((name) => name !== null) ? [group] : []
    })
    .toSorted((left, right) => Number(isSame(right, primary)) - Number(isSame(left, primary)))
  const required = new Set(columns.filter(({ notNull }) => notNull).map(({ name }) => name))
  const keys = uniques.filter((group) => group.every((name) => required.has(name)))
  const links = new Set([...(keys[0] ?? []), ...references.flatMap((key) => key.columns)])
  const candidates = columns.map((column) =>
    column.isReadable
      ? candidateFields(column, links.has(column.name))
      : { fields: [], note: "the role can't read it" },
  )
  const fitting = await fittingFields(connection, table, candidates)
  const readOnly = readOnlyKinds[table.relation]
  const allowed = allowedValues(table.checks)
  const generated = keys[0]?.length === 1 ? sequenceColumn(columns, keys[0][0]) : undefined
  return {
    name: table.name,
    ...(readOnly === undefined ? {} : { readOnly }),
    columns: columns.map((column, index) =>
      describeColumn(column, candidates[index] as Candidates, {
        fields: fitting[index] ?? [],
        isGenerated: column.name === generated,
        allowed: column.labels ?? allowed.get(column.name),
      }),
    ),
    keys,
    ...(generated === undefined ? {} : { generated }),
    uniques: uniques.filter((group) => group.every((name) => isExact(columns, name))),
    indexes: indexes.flatMap((index) => {
      const parts = index.columns.flatMap(({ name, descending }) =>
        name === null ? [] : [{ name, descending }],
      )
      return index.unique || parts.length < index.columns.length ? [] : [parts]
    }),
    references: references.map((key) => referenceOf(key, names)),
  }
}

function describeColumn(
  column: PostgresColumn,
  { fields: candidates, note, textNote }: Candidates,
  { fields, isGenerated, allowed }: FoundColumn,
): ColumnDescription {
  const { name, notNull, hasDefault, isComputed, isFixed } = column
  const isLast = fields.length === 1 && fields[0] === candidates.at(-1)
  const reason = isLast ? (textNote ?? note) : note
  return {
    name,
    fields,
    ...(reason === undefined ? {} : { note: reason }),
    nullable: !notNull,
    hasDefault,
    computed: isComputed || (isFixed && !isGenerated),
    ...(allowed === undefined ? {} : { allowed }),
  }
}

/** What reading a table has shown of a column. */
interface FoundColumn {
  readonly fields: readonly Field[]
  /** Whether the database numbers it, and it is the key. */
  readonly isGenerated: boolean
  readonly allowed: readonly (string | number)[] | undefined
}

function sequenceColumn(
  columns: readonly PostgresColumn[],
  name: string | undefined,
): string | undefined {
  const column = columns.find((each) => each.name === name)
  const isNumber = ['int2', 'int4', 'int8'].includes(column?.base ?? '')
  return isNumber && column?.numberedBy !== undefined && column.hasDefault ? name : undefined
}

function isSame(group: readonly string[], primary: readonly string[] | undefined): boolean {
  return group.join('\0') === primary?.join('\0')
}

// Values that differ only after the milliseconds are equal for clients.
function isExact(columns: readonly PostgresColumn[], name: string): boolean {
  const column = columns.find((each) => each.name === name)
  const isTime = column?.base === 'timestamp' || column?.base === 'timestamptz'
  return !isTime || (column.scale !== undefined && column.scale <= 3)
}

function referenceOf(
  key: PostgresReference,
  names: ReadonlyMap<string, string>,
): ReferenceDescription {
  return {
    table: names.get(key.target) ?? key.targetName,
    columns: key.columns,
    targets: key.targetColumns,
    onDelete: actions[key.action] ?? 'restrict',
  }
}

const actions: Readonly<Record<string, ReferenceDescription['onDelete']>> = {
  c: 'cascade',
  n: 'setNull',
  d: 'setDefault',
}

// Statements of wide tables would have too many columns.
const termsAtOnce = 200

/** Returns those fields of each column that every value of the column fits. */
async function fittingFields(
  connection: Connection,
  table: PostgresTable,
  candidates: readonly Candidates[],
): Promise<readonly (readonly Field[])[]> {
  const from = identifier(table.schema, table.name)
  const tests = candidates.flatMap(({ fields }, index) => {
    const column = table.columns[index] as PostgresColumn
    return fields.flatMap((field) => {
      const term = fitTerm(identifier(column.name), column, field)
      return term === undefined
        ? []
        : [{ name: testName(index, field), term: misfits(column, term) }]
    })
  })
  const unfit = new Set<string>()
  for (let at = 0; at < tests.length; at += termsAtOnce) {
    const group = tests.slice(at, at + termsAtOnce)
    const terms = join(group.map(({ term }) => term))
    const [row = []] = await connection.rows(bind(sql`select ${terms} from ${from}`))
    for (const [index, { name }] of group.entries()) if (row[index] === 't') unfit.add(name)
  }
  return candidates.map(({ fields }, index) =>
    fields.filter((field) => !unfit.has(testName(index, field))),
  )
}

function testName(index: number, field: Field): string {
  return `${index} ${formOf(field)}`
}

function misfits({ name }: PostgresColumn, term: Sql): Sql {
  return sql`coalesce(bool_or(${identifier(name)} is not null and not (${term})), false)`
}
