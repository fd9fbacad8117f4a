import type { PlannedChange } from './changes.ts'
import type { TableCopies } from './database.ts'
import { fieldsOf, sharedTables, type Draft, type SharedTable } from './draft.ts'
import type { Column, Table } from './model.ts'
import { changedColumn } from './planned-tables.ts'
import { mayBeNull } from './required-columns.ts'
import { requiredColumns } from './shared-plans.ts'

/** Plans to let columns reject null, and to let them allow it, as the definition does. */
export function nullChanges(draft: Draft): readonly PlannedChange[] {
  const { copies } = draft.dialect
  return sharedTables(draft).flatMap((shared) =>
    copies === undefined ? alteredNulls(draft, shared) : copiedNulls(draft, shared, copies),
  )
}

/** Returns the columns that reject null although the definition does not require a value. */
function nullableColumns({ table, sharing, ...shared }: SharedTable): readonly Column[] {
  return table.columns.filter(
    (column) =>
      rejectsNull(table, column) &&
      mayBeNull(sharing, fieldsOf({ ...shared, table, sharing }, column.name)),
  )
}

/** Returns whether a column rejects null, other than in a primary key, and nothing else gives it a value. */
function rejectsNull({ primary }: Table, { name, ...column }: Column): boolean {
  const { notNull, hasDefault, isComputed, isDomain = false } = column
  return notNull && !hasDefault && !isComputed && !isDomain && primary?.includes(name) !== true
}

function allowsNull({ find }: Table): (column: string) => boolean {
  return (name) => {
    const { notNull = true, isComputed = true, isDomain = false } = find(name) ?? {}
    return !notNull && !isComputed && !isDomain
  }
}

function alteredNulls(draft: Draft, shared: SharedTable): readonly PlannedChange[] {
  const { quoted, schema, changes } = draft.dialect
  const { name: table, table: found } = shared
  const required = requiredColumns(draft, shared, allowsNull(found)).map(({ column }) => column)
  const nullable = nullableColumns(shared)
  return found.columns.flatMap((column): readonly PlannedChange[] => {
    const { name, notNull, isComputed } = column
    const of = `the column ${quoted(name)} of the table ${quoted(table)}`
    const isKey = fieldsOf(shared, name).some(({ inKey }) => inKey)
    const rejecting = {
      table,
      statements: [schema.rejectNull?.(found, column) ?? ''],
      after: changedColumn(table, name, { notNull: true }),
    }
    if (!notNull && !isComputed && isKey) {
      const description = `Rejects null in ${of}, which is part of the key.`
      return [{ kind: 'add', ...rejecting, description }]
    }
    if (required.includes(name)) {
      const description = `Rejects null in ${of}, which the definition requires.`
      return [{ kind: 'require', ...rejecting, description }]
    }
    if (!nullable.includes(column)) return []
    const description = `Allows null in ${of}, which the definition does not require.`
    const statements = [changes?.allowNull(found, column) ?? '']
    const after = changedColumn(table, name, { notNull: false })
    return [{ kind: 'rebuild', table, description, statements, after }]
  })
}

function copiedNulls(
  draft: Draft,
  shared: SharedTable,
  copies: TableCopies,
): readonly PlannedChange[] {
  const { quoted } = draft
  const { name: table, table: found, sharing } = shared
  const required = requiredColumns(draft, shared, allowsNull(found)).filter(({ column, field }) => {
    const own = found.find(column)
    return own && draft.dialect.kept(own, field) !== undefined
  })
  const nullable = nullableColumns(shared).filter(({ name }) =>
    copies.isOwnNotNull(found, fieldsOf(shared, name)),
  )
  const copied = (
    kind: 'require' | 'rebuild',
    columns: readonly string[],
  ): readonly PlannedChange[] => {
    const rejectsNull = kind === 'require'
    const statements =
      columns.length === 0
        ? undefined
        : copies.changeNulls(found, sharing, { columns, rejectsNull })
    if (statements === undefined) return []
    const does = rejectsNull ? 'Rejects' : 'Allows'
    const reason = rejectsNull ? 'the definition requires' : 'the definition does not require'
    const description = `${does} null in ${columns.map(quoted).join(', ')} of the table ${quoted(table)}, which ${reason}. This copies the table.`
    return [{ kind, table, description, statements }]
  }
  return [
    ...copied(
      'rebuild',
      nullable.map(({ name }) => name),
    ),
    ...copied(
      'require',
      required.map(({ column }) => column),
    ),
  ]
}
