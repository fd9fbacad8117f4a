import { escapeKey, setMember } from '../json-path.ts'
import * as z from 'zod/mini'
import { nonEmpty, wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { isJsonNumber } from '../../protocol/json-number.ts'
import type { Json } from '../../protocol/json.ts'
import { type Cell, type ResponseTable, type ResponseTables, type TableRow } from './table.ts'
import { isCell, isEmpty, requireEqualLengths, type JsonObject } from './json-object.ts'
import { TablesError } from './tables-error.ts'

/** The options of {@link flatten}. */
export interface FlattenOptions {
  /**
   * The paths of objects that are dictionaries, such as `rates`: their keys are data. Each becomes a table
   * with a row for each entry, whose `key` is the entry's key. The empty path is the response itself. Default: none.
   */
  readonly entries?: readonly string[]
  /**
   * The paths of arrays of which a service sends a single element without the array, such as `Order/Line`: an object
   * there, or another value, becomes a table with one row, too. Default: none.
   */
  readonly arrays?: readonly string[]
  /**
   * The paths of objects whose arrays belong together, such as `hourly` of `{ "hourly": { "time": [], "rain": [] } }`.
   * Each becomes a table with a row for each position. Other members stay columns. Default: none.
   */
  readonly zip?: readonly string[]
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

const reading = {
  entries: z._default(z.array(z.string()), []),
  arrays: z._default(z.array(nonEmpty), []),
  zip: z._default(z.array(nonEmpty), []),
}

/** The form of the options that say what becomes a table. */
export const readingShape = z.strictObject(reading)

/** The form of {@link FlattenOptions}. */
export const flattenShape = z.strictObject({
  ...reading,
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
  const flattening = new Flattening(options, firstIndex)
  flattening.add(value)
  const { root, tables, isDictionary } = flattening
  return { isList: Array.isArray(value), ...(isDictionary && { isDictionary }), root, tables }
}

/** The tables of a value while they are made. */
class Flattening {
  readonly root = openTable(null)
  /** Whether the value is a dictionary, which the options name. */
  isDictionary = false
  readonly tables = new Map<string, OpenTable>()
  readonly #options: Required<FlattenOptions>
  readonly #firstIndex: number
  readonly #dictionaries: ReadonlySet<string>
  readonly #arrays: ReadonlySet<string>
  readonly #zipped: ReadonlySet<string>
  #nextId: number

  constructor(options: Required<FlattenOptions>, firstIndex: number) {
    this.#options = options
    this.#firstIndex = firstIndex
    this.#dictionaries = new Set(options.entries)
    this.#arrays = new Set(options.arrays)
    this.#zipped = new Set(options.zip)
    this.#nextId = options.firstId
  }

  /** Adds the value. */
  add(value: Json): void {
    if (Array.isArray(value)) this.#addRows(this.root, null, value as readonly Json[], 1)
    else if (this.#dictionaries.has('') && isObject(value) && isPlain(value)) {
      this.isDictionary = true
      this.#addEntries(this.root, null, value, 1)
    } else
      this.#addElement(this.root, this.#addRow(this.root, { parent_id: null, index: 0 }), value, 0)
  }

  #tableAt(path: string): OpenTable {
    const known = this.tables.get(path)
    if (known !== undefined) return known
    if (this.tables.size >= this.#options.maxColumns) {
      const message = `The response has more than ${this.#options.maxColumns} tables.`
      throw new TablesError('TOO_MANY_COLUMNS', message, path)
    }
    const table = openTable(path)
    this.tables.set(path, table)
    return table
  }

  #addRow(table: OpenTable, place: Pick<OpenRow, 'parent_id' | 'index'>): OpenRow {
    if (this.#nextId - this.#options.firstId >= this.#options.maxRows) {
      throw new TablesError(
        'TOO_MANY_ROWS',
        `The response has more than ${this.#options.maxRows} rows.`,
      )
    }
    const row = { id: this.#nextId++, parent_id: place.parent_id, index: place.index, values: {} }
    table.rows.push(row)
    return row
  }

  #addElement(table: OpenTable, row: OpenRow, element: Json, depth: number): void {
    if (isObject(element) && isPlain(element))
      this.#addMembers({ table, row, prefix: '', depth }, element)
    else {
      row.bare = true
      this.#addValue({ table, row, prefix: 'value', depth }, element)
    }
  }

  /** Adds the members of an object as columns whose names begin with the prefix. */
  #addMembers({ table, row, prefix, depth }: Place, members: JsonObject): void {
    this.#requireDepth(depth + 1, table)
    for (const key in members) {
      const value = Object.hasOwn(members, key) ? members[key] : undefined
      if (value === undefined) continue
      this.#addValue({ table, row, prefix: prefix + escapeKey(key), depth: depth + 1 }, value)
    }
  }

  /** Adds a value whose column is the prefix. */
  #addValue(place: Place, value: Json): void {
    const { table, row, prefix: column, depth } = place
    if (this.#arrays.size > 0 && value !== null && !Array.isArray(value)) {
      const path = joined(table, column)
      if (this.#arrays.has(path)) {
        this.#addSingle(this.#tableAt(path), place, value)
        return
      }
    }
    if (value === null || typeof value !== 'object' || isJsonNumber(value))
      this.#addCell(place, value)
    else if (Array.isArray(value)) {
      this.#requireDepth(depth + 1, table)
      if (value.length === 0) this.#addEmpty(place, 'array')
      else this.#addRows(this.#tableAt(joined(table, column)), row.id, value, depth + 1)
    } else if (!isPlain(value)) throw notJson(column)
    else if (isEmpty(value as JsonObject)) {
      this.#requireDepth(depth + 1, table)
      this.#addEmpty(place, 'object')
    } else if (this.#dictionaries.size > 0 && this.#dictionaries.has(joined(table, column))) {
      this.#requireDepth(depth + 1, table)
      this.#addEntries(this.#tableAt(joined(table, column)), row.id, value as JsonObject, depth + 1)
    } else if (this.#zipped.size > 0 && this.#zipped.has(joined(table, column))) {
      this.#addZipped(place, value as JsonObject)
    } else this.#addMembers({ table, row, prefix: `${column}/`, depth }, value as JsonObject)
  }

  /** Adds the only element of an array that is sent without the array. */
  #addSingle(table: OpenTable, { row: { id }, depth }: Place, element: Json): void {
    const row = this.#addRow(table, { parent_id: id, index: 0 })
    row.isSingle = true
    this.#addElement(table, row, element, depth)
  }

  /** Adds the arrays of an object as one table, and its other members as columns. */
  #addZipped({ table, row, prefix: column, depth }: Place, members: JsonObject): void {
    this.#requireDepth(depth + 2, table)
    const arrays: [string, readonly Json[]][] = []
    const others: Record<string, Json> = {}
    for (const [key, value] of Object.entries(members)) {
      if (Array.isArray(value) && value.length > 0) arrays.push([key, value as readonly Json[]])
      else setMember(others, key, value)
    }
    const path = joined(table, column)
    requireEqualLengths(path, members)
    this.#addMembers({ table, row, prefix: `${column}/`, depth }, others)
    const [first] = arrays
    if (first === undefined) return
    const count = first[1].length
    const zipped = this.#tableAt(path)
    for (let index = 0; index < count; index++) {
      const own = this.#addRow(zipped, { parent_id: row.id, index })
      own.isZipped = true
      const element: Record<string, Json> = {}
      for (const [key, values] of arrays) setMember(element, key, values[index])
      this.#addMembers({ table: zipped, row: own, prefix: '', depth: depth + 1 }, element)
    }
  }

  #addRows(table: OpenTable, parent: number | null, list: readonly Json[], depth: number) {
    const first = parent === null ? this.#firstIndex : 0
    for (let index = 0; index < list.length; index++) {
      const row = this.#addRow(table, { parent_id: parent, index: first + index })
      this.#addElement(table, row, list[index] as Json, depth)
    }
  }

  #addEntries(table: OpenTable, parent: number | null, members: JsonObject, depth: number): void {
    this.#requireDepth(depth, table)
    for (const [index, key] of Object.keys(members).entries()) {
      const row = this.#addRow(table, { parent_id: parent, index })
      row.key = key
      this.#addElement(table, row, members[key] as Json, depth)
    }
  }

  #addCell({ table, row, prefix: column }: Place, value: unknown): void {
    if (!isCell(value)) throw notJson(column)
    this.#addColumn(table, column)
    setMember(row.values, column, value)
  }

  #addEmpty({ table, row, prefix: column }: Place, kind: 'object' | 'array'): void {
    this.#addColumn(table, column)
    row.empty ??= {}
    setMember(row.empty, column, kind)
  }

  #addColumn({ columns, path }: OpenTable, column: string): void {
    if (columns.has(column)) return
    if (columns.size >= this.#options.maxColumns) {
      const message = `A table of the response has more than ${this.#options.maxColumns} columns.`
      throw new TablesError('TOO_MANY_COLUMNS', message, path)
    }
    columns.add(column)
  }

  #requireDepth(depth: number, { path }: OpenTable): void {
    if (depth <= this.#options.maxDepth) return
    const message = `The response is nested deeper than ${this.#options.maxDepth} levels.`
    throw new TablesError('TOO_DEEP', message, path)
  }
}

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
