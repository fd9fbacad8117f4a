import type { OnDelete } from '../../definition/field.ts'
import type { Reference } from '../../definition/published.ts'
import { rowsOf, type Connection } from '../../storage/sqlite/connection/connection.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import { folded, type ForeignKey } from '../model.ts'
import { addTo, columnsOf, keyColumns, type ListedTable } from './read.ts'

const actions: Readonly<Record<OnDelete, readonly string[]>> = {
  restrict: ['NO ACTION', 'RESTRICT'],
  cascade: ['CASCADE'],
  setNull: ['SET NULL'],
}

/** Returns whether the columns of a reference have the same forms, so that equal values are stored equally. */
export function hasEqualForms({ fields, to }: Reference): boolean {
  return fields.every((field, index) => field.storedAs === to.key[index]?.storedAs)
}

/** Returns the FOREIGN KEY constraint of a reference. */
export function foreignKey({ fields, to, onDelete }: Reference): string {
  const own = fields.map(({ column }) => quoted(column)).join(', ')
  const other = to.key.map(({ column }) => quoted(column)).join(', ')
  const [action] = actions[onDelete]
  const effect = onDelete === 'restrict' ? '' : ` ON DELETE ${action}`
  return `FOREIGN KEY (${own}) REFERENCES ${quoted(to.table)} (${other})${effect}`
}

/** Returns the foreign keys that SQLite checks with each statement, by the names of their tables. */
export function checkedKeys(
  connection: Connection,
  tables: readonly ListedTable[],
): ReadonlyMap<string, readonly ForeignKey[]> {
  const keys = new Map<string, ForeignKey[]>()
  const [isOn] = rowsOf(connection, 'PRAGMA foreign_keys')[0] ?? []
  if (Number(isOn) !== 1) return keys
  const checked = tables.filter(({ statement }) => !/\bDEFERRED\b/i.test(statement))
  const names = checked.map(({ name }) => name)
  for (const { table, target, onDelete, ...key } of foreignKeysOf(connection, names)) {
    const [action] = Object.entries(actions).find(([, words]) => words.includes(onDelete)) ?? []
    const known = { ...key, name: '', target: folded(target), onDelete: action as OnDelete }
    addTo(keys, table, known)
  }
  return keys
}

/** A FOREIGN KEY constraint. */
export interface SqliteForeignKey {
  readonly table: string
  readonly columns: readonly string[]
  /** The table that it refers to. */
  readonly target: string
  /** The columns of that table, in the order of `columns`. Empty strings if it has no such key. */
  readonly targetColumns: readonly string[]
  /** Whether it refers to the primary key of that table, without its columns. */
  readonly isImplicit: boolean
  /** What a delete of the referenced row does, in the words of SQLite. */
  readonly onDelete: string
}

/** Returns the foreign keys of tables, in the order in which they are declared. */
export function foreignKeysOf(
  connection: Connection,
  tables: readonly string[],
): readonly SqliteForeignKey[] {
  const rows = rowsOf(
    connection,
    `SELECT t.value, f.id, f."table", f."from", f."to", f.on_delete
     FROM json_each(?) AS t, pragma_foreign_key_list(t.value) AS f ORDER BY t.key, f.id DESC, f.seq`,
    [JSON.stringify(tables)],
  ) as readonly unknown[] as readonly Part[]
  const keys = new Map<string, Part[]>()
  for (const part of rows) addTo(keys, JSON.stringify([part[0], part[1]]), part)
  return Array.from(keys.values(), (parts) => {
    const [table, , target, , , onDelete] = parts[0] as Part
    // Without columns, a constraint refers to the primary key.
    const isImplicit = parts.some(([, , , , to]) => to === null)
    const primary = isImplicit ? primaryKey(connection, target) : []
    return {
      table,
      columns: parts.map(([, , , from]) => from),
      target,
      targetColumns: parts.map(([, , , , to], index) => to ?? primary[index] ?? ''),
      isImplicit,
      onDelete,
    }
  })
}

type Part = readonly [
  table: string,
  id: number,
  target: string,
  from: string,
  to: string | null,
  action: string,
]

function primaryKey(connection: Connection, table: string): readonly string[] {
  return keyColumns(columnsOf(connection, [table]).get(table) ?? [])
}
