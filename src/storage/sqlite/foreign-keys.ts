import type { OnDelete } from '../../definition/field.ts'
import type { PublishedCollection, Reference } from '../../definition/published.ts'
import { rowsOf, type Connection } from './connection.ts'
import { quoted } from './sql.ts'
import { folded, type Tables } from './tables.ts'

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

/**
 * Returns the references that the database enforces: the table has the foreign key, which has the same
 * effect on delete, compares values exactly, and is not deferred to the commit.
 */
export function enforcedReferences(
  connection: Connection,
  tables: Tables,
  collections: readonly PublishedCollection[],
): readonly Reference[] {
  const references = collections.flatMap((collection) => collection.references)
  if (references.length === 0) return []
  const [isOn] = rowsOf(connection, 'PRAGMA foreign_keys')[0] ?? []
  if (Number(isOn) !== 1) return []
  const names = [...new Set(references.map(({ from }) => from.table))]
  const present = new Set(constraintsOf(connection, names))
  return references.filter((reference) => {
    const { from, to, onDelete } = reference
    const [own, other] = [tables.find(from.table), tables.find(to.table)]
    if (own === undefined || other === undefined || !hasEqualForms(reference)) return false
    if (/\bDEFERRED\b/i.test(own.statement)) return false
    // A foreign key compares with the collation of the referenced column.
    if (/\bCOLLATE\s+(?!"?BINARY\b)/i.test(other.statement)) return false
    return actions[onDelete].some((action) => present.has(identityOf(reference, action)))
  })
}

function identityOf({ from, fields, to }: Reference, action: string): string {
  const pairs = fields.map((field, index) => [field.column, to.key[index]?.column ?? ''] as const)
  return identity(from.table, to.table, action, pairs)
}

function identity(
  from: string,
  to: string,
  action: string,
  pairs: readonly (readonly [string, string])[],
): string {
  const columns = pairs.map((pair) => pair.map((name) => name.toLowerCase()))
  const sorted = columns.toSorted(([left = ''], [right = '']) => (left < right ? -1 : 1))
  return JSON.stringify([folded(from), folded(to), action, sorted])
}

type Part = readonly [
  table: string,
  id: number,
  parent: string,
  from: string,
  to: string | null,
  action: string,
]

function constraintsOf(connection: Connection, names: readonly string[]): readonly string[] {
  const rows = rowsOf(
    connection,
    `SELECT t.value, f.id, f."table", f."from", f."to", f.on_delete
     FROM json_each(?) AS t, pragma_foreign_key_list(t.value) AS f ORDER BY t.key, f.id, f.seq`,
    [JSON.stringify(names)],
  ) as readonly unknown[] as readonly Part[]
  const keys = new Map<string, Part[]>()
  for (const part of rows) {
    const name = JSON.stringify([part[0], part[1]])
    const known = keys.get(name)
    if (known === undefined) keys.set(name, [part])
    else known.push(part)
  }
  return [...keys.values()].map((parts) => {
    const [table, , parent, , , action] = parts[0] as Part
    // Without columns, a constraint refers to the primary key.
    const primary = parts.some(([, , , , to]) => to === null) ? keyOf(connection, parent) : []
    const pairs = parts.map(
      ([, , , from, to], index) => [from, to ?? primary[index] ?? ''] as const,
    )
    return identity(table, parent, action, pairs)
  })
}

/** Returns the columns of the primary key of a table, in order. */
export function keyOf(connection: Connection, table: string): readonly string[] {
  const select = 'SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk'
  return rowsOf(connection, select, [table]).map(([name]) => name as string)
}
