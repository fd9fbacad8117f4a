import { requirePlainObject } from '../../checks/plain-object.ts'
import type { ColumnsAt, DescendantPath, TablePath } from './response-types.ts'
import { escapeKey } from '../json-path.ts'
import { allTables, type ResponseTable, type ResponseTables, type TableRow } from './table.ts'

/** The tables of a response of type `T`, with what joins their rows. */
export interface ResponseReader<T = unknown> {
  /** The rows of the root: one, or one for each element of a response that is an array. */
  readonly root: readonly TableRow<ColumnsAt<T, null>>[]
  /** Returns the rows of a table; none if the response does not have it. */
  rows<Path extends TablePath<T>>(table: Path): readonly TableRow<ColumnsAt<T, Path>>[]
  /** Returns the rows of a table that are below a row, in document order. */
  below<Path extends TablePath<T>>(
    row: TableRow<unknown>,
    table: Path & DescendantPath<T, null>,
  ): readonly TableRow<ColumnsAt<T, Path>>[]
  /** Returns the row that contains a row; undefined for a row of the root. */
  parent(row: TableRow<unknown>): TableRow | undefined
  /** Returns the row of the root that contains a row; the row itself if it is one. */
  top(row: TableRow<unknown>): TableRow
  /** Returns the rows that contain a row, the row of the root first. */
  above(row: TableRow<unknown>): readonly AncestorRow[]
  /** Returns the JSON Pointer of a row in the response (RFC 6901), such as `/parcels/0`. */
  pointer(row: TableRow<unknown>): string
}

/** A row that contains another one, and the path of its table; null is the root. */
export interface AncestorRow {
  readonly table: string | null
  readonly row: TableRow
}

interface Home {
  readonly row: TableRow
  readonly table: ResponseTable
}

/** Returns a reader of tables. What joins the rows is computed once, when it is needed. */
export function readTables<T = unknown>(tables: ResponseTables): ResponseReader<T> {
  requirePlainObject('The tables', tables, 'readTables')
  let homes: ((id: number) => Home | undefined) | undefined
  const groups = new Map<string, ReadonlyMap<number, readonly TableRow[]>>()
  const homeOf = (id: number): Home => {
    homes ??= homesOf(tables)
    const home = homes(id)
    if (home === undefined) throw new TypeError(`There is no row ${id} in these tables.`)
    return home
  }
  const parent = ({ parent_id }: TableRow<unknown>): TableRow | undefined =>
    parent_id === null ? undefined : homeOf(parent_id).row
  const above = (row: TableRow<unknown>): readonly AncestorRow[] => {
    const chain: AncestorRow[] = []
    for (let id = row.parent_id; id !== null;) {
      const home = homeOf(id)
      chain.unshift({ table: home.table.path, row: home.row })
      id = home.row.parent_id
    }
    return chain
  }
  const groupOf = (table: string): ReadonlyMap<number, readonly TableRow[]> => {
    let group = groups.get(table)
    if (group === undefined) groups.set(table, (group = groupByAncestor(rows(table), above)))
    return group
  }
  const rows = (table: string): readonly TableRow[] => tables.tables.get(table)?.rows ?? []
  const reader = {
    root: tables.root.rows,
    rows,
    below: ({ id }: TableRow<unknown>, table: string) => groupOf(table).get(id) ?? [],
    parent,
    top: (row: TableRow): TableRow => {
      let top = row
      for (let next = parent(top); next !== undefined; next = parent(top)) top = next
      return top
    },
    above,
    pointer: (row: TableRow<unknown>) => {
      const chain = [...above(row).map((one) => one.row), homeOf(row.id).row]
      return chain.map(({ id }, at) => stepOf(homeOf(id), homeOf, tables, chain[at + 1])).join('')
    },
  }
  return Object.freeze(reader) as ResponseReader<T>
}

// Two lists by id: an object for each row would take more memory than the rows.
function homesOf(tables: ResponseTables): (id: number) => Home | undefined {
  const rows: TableRow[] = []
  const homes: ResponseTable[] = []
  const first = tables.root.rows[0]?.id ?? 1
  for (const table of allTables(tables)) {
    for (const row of table.rows) {
      rows[row.id - first] = row
      homes[row.id - first] = table
    }
  }
  return (id) => {
    const [row, table] = [rows[id - first], homes[id - first]]
    return row === undefined || table === undefined ? undefined : { row, table }
  }
}

function groupByAncestor(
  rows: readonly TableRow[],
  above: ResponseReader['above'],
): ReadonlyMap<number, readonly TableRow[]> {
  const group = new Map<number, TableRow[]>()
  for (const row of rows) {
    for (const { row: ancestor } of above(row)) {
      const below = group.get(ancestor.id)
      if (below === undefined) group.set(ancestor.id, [row])
      else below.push(row)
    }
  }
  return group
}

/** Returns the part of a JSON Pointer that leads from the row above to this one. `below`: the next row of the pointer. */
function stepOf(
  { row, table }: Home,
  homeOf: (id: number) => Home,
  { isList, isDictionary }: ResponseTables,
  below: TableRow | undefined,
): string {
  const place = row.key === undefined ? String(row.index) : escapeKey(row.key)
  if (row.parent_id === null) return isList || isDictionary === true ? `/${place}` : ''
  const parent = homeOf(row.parent_id)
  const above = parent.table.path
  const path = (table.path ?? '').slice(above === null ? 0 : above.length + 1)
  // The index of a position of several arrays follows the name of the array.
  const column = parent.row.isZipped === true ? afterName(path, parent.row.index) : path
  if (row.isSingle === true) return parent.row.bare === true ? '' : `/${column}`
  if (row.isZipped === true) {
    const [first] = Object.keys({ ...row.values, ...row.empty })
    const isLast = below === undefined && first !== undefined
    return isLast ? `/${column}/${first.split('/')[0]}/${place}` : `/${column}`
  }
  // The column `value` of an element that is not an object is the element itself.
  return parent.row.bare === true ? `/${place}` : `/${column}/${place}`
}

function afterName(path: string, index: number): string {
  const [name = '', ...inner] = path.split('/')
  return [name, index, ...inner].join('/')
}
