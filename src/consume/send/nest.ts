import { requireKnown } from '../../checks/options.ts'
import { requirePlainObject } from '../../checks/plain-object.ts'
import type { Json } from '../../protocol/json.ts'
import { setMember } from '../json-path.ts'
import type { Cell, ResponseTable, TableRow } from '../tables/table.ts'
import { unflatten } from '../tables/unflatten.ts'

/** Where the members of an object come from, by path: a field of the row, or a function of the row. */
export type NestedSources<Row> = Readonly<
  Record<string, (keyof Row & string) | ((row: Row) => Cell)>
>

interface Level<Row, Children> {
  /** The members of each object by path, such as `to/address/city`. */
  readonly set: NestedSources<NoInfer<Row>>
  /** The arrays in each object by path, with their rows. Default: none. */
  readonly nest?: {
    readonly [Path in keyof Children]: ChildRows<Children[Path], NoInfer<Row>>
  }
}

/** Rows that belong to the rows of the level above. */
export interface ChildRows<Row, Parent> extends Level<Row, Readonly<Record<string, AnyRow>>> {
  readonly rows: readonly Row[]
  /** The fields that have the value of a field of the row above: `{ orderId: 'id' }`. */
  readonly on: Readonly<Partial<Record<keyof Row & string, keyof Parent & string>>>
  /** Whether the elements are the values of the source `value` instead of objects. Default false. */
  readonly bare?: boolean
}

type AnyRow = Readonly<Record<string, unknown>>

// A level of any rows, as it is read here.
interface AnyLevel {
  readonly set: Readonly<Record<string, string | ((row: AnyRow) => Cell)>>
  readonly nest?: Readonly<Record<string, AnyChildren>> | undefined
}
interface AnyChildren extends AnyLevel {
  readonly rows: readonly AnyRow[]
  readonly on: Readonly<Record<string, string>>
  readonly bare?: boolean
}

/**
 * Returns a JSON body from a row and the rows that belong to it, or a list of bodies from a list of rows. A
 * row without child rows has an empty array. Throws a TypeError if a child row belongs to no row.
 */
export function nest<Row extends object, Children = unknown>(
  options: Level<Row, Children> & { readonly row: Row },
): Record<string, Json>
export function nest<Row extends object, Children = unknown>(
  options: Level<Row, Children> & { readonly rows: readonly Row[] },
): Record<string, Json>[]
export function nest(options: object): unknown {
  requirePlainObject('The options', options, 'nest')
  const isList = 'rows' in options
  requireKnown('nest', options, [isList ? 'rows' : 'row', 'set', 'nest'])
  const given = options as AnyLevel & { readonly row: AnyRow; readonly rows: readonly AnyRow[] }
  const rows = isList ? given.rows : [given.row]
  requireRows(rows)
  requireSources(given)
  requireParents(rows, given.nest, '')
  const tables = new Map<string, ResponseTable & { readonly rows: TableRow[] }>()
  const root: TableRow[] = []
  let nextId = 1

  function addRow(row: AnyRow, level: AnyLevel, at: Position): void {
    const id = nextId++
    const values = {}
    const empty = {}
    for (const [column, source] of Object.entries(level.set)) {
      setMember(values, column, typeof source === 'function' ? source(row) : (row[source] ?? null))
    }
    const { path, parent_id, to, bare = false } = at
    to.push({ id, parent_id, index: to.length, values, empty, ...(bare && { bare }) })
    for (const [column, child] of Object.entries(level.nest ?? {})) {
      const inner = path === null ? column : `${path}/${column}`
      const own = child.rows.filter((one) => belongs(one, child.on, row))
      if (own.length === 0) setMember(empty, column, 'array')
      const position = { path: inner, parent_id: id, to: rowsAt(inner), bare: child.bare }
      for (const one of own) addRow(one, child, position)
    }
  }

  function rowsAt(path: string): TableRow[] {
    const table = tables.get(path) ?? { path, columns: new Set<string>(), rows: [] }
    tables.set(path, table)
    return table.rows
  }

  for (const row of rows) addRow(row, given, { path: null, parent_id: null, to: root })
  return unflatten({ isList, root: { path: null, columns: new Set(), rows: root }, tables })
}

/** Where the row of an object is added. */
interface Position {
  readonly path: string | null
  readonly parent_id: number | null
  readonly to: TableRow[]
  readonly bare?: boolean | undefined
}

function belongs(row: AnyRow, on: AnyChildren['on'], above: AnyRow): boolean {
  return Object.entries(on).every(([own, other]) => row[own] === above[other])
}

function requireSources({ set, nest: children = {} }: AnyLevel): void {
  requirePlainObject('The sources of set', set, 'nest')
  requirePlainObject('The arrays of nest', children, 'nest')
}

function requireRows(rows: readonly unknown[]): void {
  for (const row of rows) requirePlainObject('The row', row, 'nest')
}

/** Throws a TypeError for rows that would not be sent, because no row above has their values. */
function requireParents(above: readonly AnyRow[], children: AnyLevel['nest'], path: string): void {
  for (const [column, child] of Object.entries(children ?? {})) {
    const place = `${path}${column}`
    requireKnown(`nest ${place}`, child, ['rows', 'on', 'set', 'nest', 'bare'])
    requireRows(child.rows)
    requirePlainObject(`The names of ${place}.on`, child.on, 'nest')
    requireSources(child)
    const lost = child.rows.findIndex((row) => !above.some((one) => belongs(row, child.on, one)))
    if (lost >= 0) throw new TypeError(`nest: row ${lost} of ${place} belongs to no row above it.`)
    requireParents(child.rows, child.nest, `${place}/`)
  }
}
