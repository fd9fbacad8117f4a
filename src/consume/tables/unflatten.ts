import { requirePlainObject } from '../../checks/plain-object.ts'
import type { Json } from '../../protocol/json.ts'
import { escapeKey, setAt, setMember } from '../json-path.ts'
import { allTables, type ResponseTable, type ResponseTables, type TableRow } from './table.ts'

/**
 * Returns the JSON value that tables describe: the inverse of `flatten`. The order of members is not part of
 * the tables. Throws a TypeError if the tables don't belong together.
 */
export function unflatten(tables: ResponseTables): Json {
  requirePlainObject('The tables', tables, 'unflatten')
  const children = childrenOf(tables)
  const roots = tables.root.rows.map((row) => jsonOfRow(row, children))
  if (tables.isList) return roots
  if (tables.isDictionary === true) {
    const dictionary = {}
    for (const [index, { key = '' }] of tables.root.rows.entries()) {
      setMember(dictionary, key, roots[index])
    }
    return dictionary
  }
  const [value] = roots
  if (value === undefined || roots.length > 1) {
    throw new TypeError('The root of a response that is not an array must have exactly one row.')
  }
  return value
}

interface Child {
  readonly row: TableRow
  /** The column of the parent that has the array or dictionary. */
  readonly column: string
}

type Children = ReadonlyMap<number, readonly Child[]>

function childrenOf(tables: ResponseTables): Children {
  const homes = new Map<number, ResponseTable>()
  for (const table of allTables(tables)) for (const { id } of table.rows) homes.set(id, table)
  const children = new Map<number, Child[]>()
  for (const { path, rows } of tables.tables.values()) {
    for (const row of rows) {
      const parent = row.parent_id === null ? undefined : homes.get(row.parent_id)
      const column = parent === undefined ? undefined : columnBelow(parent.path, path ?? '')
      if (row.parent_id === null || column === undefined) {
        throw new TypeError(`Row ${row.id} of ${path} has no parent among the rows above it.`)
      }
      const siblings = children.get(row.parent_id)
      if (siblings === undefined) children.set(row.parent_id, [{ row, column }])
      else siblings.push({ row, column })
    }
  }
  return children
}

function columnBelow(parent: string | null, path: string): string | undefined {
  if (parent === null) return path
  return path.startsWith(`${parent}/`) ? path.slice(parent.length + 1) : undefined
}

function jsonOfRow(row: TableRow, children: Children): Json {
  const value = {}
  for (const [column, cell] of Object.entries(row.values)) setAt(value, column, cell)
  for (const [column, kind] of Object.entries(row.empty ?? {})) {
    setAt(value, column, kind === 'array' ? [] : {})
  }
  const containers = new Map<string, Json[] | object>()
  for (const { row: child, column } of children.get(row.id) ?? []) {
    const element = jsonOfRow(child, children)
    if (child.isSingle === true) {
      setAt(value, column, element)
      continue
    }
    if (child.isZipped === true) {
      for (const key of Object.keys(element as object)) {
        const path = `${column}/${escapeKey(key)}`
        const array = (containers.get(path) ?? []) as Json[]
        if (array.length === 0) setAt(value, path, array)
        containers.set(path, array)
        array.push((element as Readonly<Record<string, Json>>)[key] as Json)
      }
      continue
    }
    let container = containers.get(column)
    if (container === undefined) {
      container = child.key === undefined ? [] : {}
      containers.set(column, container)
      setAt(value, column, container)
    }
    if (Array.isArray(container)) container.push(element)
    else setMember(container, child.key ?? '', element)
  }
  return row.bare === true ? (value as { readonly value: Json }).value : value
}
