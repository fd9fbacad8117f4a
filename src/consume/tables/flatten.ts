import { escapeKey, setMember } from '../json-path.ts'
import * as z from 'zod/mini'
import { wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { isJsonNumber } from '../../protocol/json-number.ts'
import type { Json } from '../../protocol/json.ts'
import { type Cell, type ResponseTable, type ResponseTables, type TableRow } from './table.ts'
import { TablesError } from './tables-error.ts'

/** The options of {@link flatten}. */
export interface FlattenOptions {
  /**
   * The paths of objects that are dictionaries, such as `rates`: their keys are data. Each becomes a table
   * with a row for each entry, whose `key` is the entry's key. Default: none.
   */
  readonly entries?: readonly string[]
  /** How deep objects and arrays may be nested. Default 64, at most 512. */
  readonly maxDepth?: number
  /** How many columns a table, and how many tables a response may have. Default 1000. */
  readonly maxColumns?: number
  /** How many rows all tables may have together. Default 1000000. */
  readonly maxRows?: number
  /** The id of the first row. Default 1. */
  readonly firstId?: number
}

const count = wholeNumber(1)

/** The form of {@link FlattenOptions}. */
export const flattenShape = z.strictObject({
  entries: z._default(z.array(z.string()), []),
  maxDepth: z._default(wholeNumber(1, 512), 64),
  maxColumns: z._default(count, 1000),
  maxRows: z._default(count, 1_000_000),
  firstId: z._default(count, 1),
})

/**
 * Returns a JSON value as tables: an object becomes a row in which nested objects are columns, and each
 * array becomes a table. Throws a {@link TablesError} if a limit is exceeded, or a value is not JSON.
 */
export function flatten(value: Json, options: FlattenOptions = {}): ResponseTables {
  return flattenWithin(value, completeOptions('flatten', flattenShape, options))
}

interface OpenTable extends ResponseTable {
  readonly columns: Set<string>
  readonly rows: TableRow[]
}

type OpenRow = { -readonly [Name in keyof TableRow]: TableRow[Name] } & {
  readonly values: Record<string, Cell>
}

/** Flattens with options that are complete. `firstIndex` is the index of the first element of an array. */
export function flattenWithin(
  value: Json,
  options: Required<FlattenOptions>,
  firstIndex = 0,
): ResponseTables {
  const { maxDepth, maxColumns, maxRows, firstId } = options
  const dictionaries = new Set(options.entries)
  const root = openTable(null)
  const tables = new Map<string, OpenTable>()
  let nextId = firstId

  function tableAt(path: string): OpenTable {
    const known = tables.get(path)
    if (known !== undefined) return known
    if (tables.size >= maxColumns) {
      const message = `The response has more than ${maxColumns} tables.`
      throw new TablesError('TOO_MANY_COLUMNS', message, path)
    }
    const table = openTable(path)
    tables.set(path, table)
    return table
  }

  function addRow(table: OpenTable, place: Pick<OpenRow, 'parent_id' | 'index'>): OpenRow {
    if (nextId - firstId >= maxRows) {
      throw new TablesError('TOO_MANY_ROWS', `The response has more than ${maxRows} rows.`)
    }
    const row = { id: nextId++, parent_id: place.parent_id, index: place.index, values: {} }
    table.rows.push(row)
    return row
  }

  function addElement(table: OpenTable, row: OpenRow, element: Json, depth: number): void {
    if (isObject(element) && isPlain(element))
      addMembers({ table, row, prefix: '', depth }, element)
    else {
      row.bare = true
      addValue({ table, row, prefix: 'value', depth }, element)
    }
  }

  /** Adds the members of an object as columns whose names begin with the prefix. */
  function addMembers({ table, row, prefix, depth }: Place, members: JsonObject): void {
    requireDepth(depth + 1, table)
    for (const key in members) {
      const value = Object.hasOwn(members, key) ? members[key] : undefined
      if (value === undefined) continue
      addValue({ table, row, prefix: prefix + escapeKey(key), depth: depth + 1 }, value)
    }
  }

  /** Adds a value whose column is the prefix. */
  function addValue(place: Place, value: Json): void {
    const { table, row, prefix: column, depth } = place
    if (value === null || typeof value !== 'object' || isJsonNumber(value)) addCell(place, value)
    else if (Array.isArray(value)) {
      requireDepth(depth + 1, table)
      if (value.length === 0) addEmpty(place, 'array')
      else addRows(tableAt(joined(table, column)), row.id, value, depth + 1)
    } else if (!isPlain(value)) throw notJson(column)
    else if (isEmpty(value as JsonObject)) {
      requireDepth(depth + 1, table)
      addEmpty(place, 'object')
    } else if (dictionaries.size > 0 && dictionaries.has(joined(table, column))) {
      requireDepth(depth + 1, table)
      addEntries(tableAt(joined(table, column)), row.id, value as JsonObject, depth + 1)
    } else addMembers({ table, row, prefix: `${column}/`, depth }, value as JsonObject)
  }

  function addRows(table: OpenTable, parent: number | null, list: readonly Json[], depth: number) {
    const first = parent === null ? firstIndex : 0
    for (let index = 0; index < list.length; index++) {
      const row = addRow(table, { parent_id: parent, index: first + index })
      addElement(table, row, list[index] as Json, depth)
    }
  }

  function addEntries(table: OpenTable, parent: number, members: JsonObject, depth: number): void {
    for (const [index, key] of Object.keys(members).entries()) {
      const row = addRow(table, { parent_id: parent, index })
      row.key = key
      addElement(table, row, members[key] as Json, depth)
    }
  }

  function addCell({ table, row, prefix: column }: Place, value: unknown): void {
    if (!isCell(value)) throw notJson(column)
    addColumn(table, column)
    setMember(row.values, column, value)
  }

  function addEmpty({ table, row, prefix: column }: Place, kind: 'object' | 'array'): void {
    addColumn(table, column)
    row.empty ??= {}
    setMember(row.empty, column, kind)
  }

  function addColumn({ columns, path }: OpenTable, column: string): void {
    if (columns.has(column)) return
    if (columns.size >= maxColumns) {
      const message = `A table of the response has more than ${maxColumns} columns.`
      throw new TablesError('TOO_MANY_COLUMNS', message, path)
    }
    columns.add(column)
  }

  function requireDepth(depth: number, { path }: OpenTable): void {
    if (depth <= maxDepth) return
    const message = `The response is nested deeper than ${maxDepth} levels.`
    throw new TablesError('TOO_DEEP', message, path)
  }

  const isList = Array.isArray(value)
  if (isList) addRows(root, null, value as readonly Json[], 1)
  else addElement(root, addRow(root, { parent_id: null, index: 0 }), value, 0)
  return { isList, root, tables }
}

type JsonObject = Readonly<Record<string, Json>>

/** Where a value is added: in a row, below the columns with a prefix. */
interface Place {
  readonly table: OpenTable
  readonly row: OpenRow
  readonly prefix: string
  readonly depth: number
}

function openTable(path: string | null): OpenTable {
  return { path, columns: new Set(), rows: [] }
}

function joined({ path }: OpenTable, column: string): string {
  return path === null ? column : `${path}/${column}`
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// JSON has no dates, maps and other objects of classes.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function notJson(path: string): TablesError {
  return new TablesError('NOT_JSON', 'The response has a value that is not JSON.', path)
}

function isEmpty(members: JsonObject): boolean {
  for (const _ in members) return false
  return true
}

function isCell(value: unknown): value is Cell {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value)
    default:
      return value === null || isJsonNumber(value)
  }
}
