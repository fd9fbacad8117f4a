import { readTables } from '../tables/read-tables.ts'
import {
  allTables,
  tableAt,
  type ResponseTable,
  type ResponseTables,
  type TableRow,
} from '../tables/table.ts'

/** How the rows of a response belong to the rows that were sent in one request. */
export interface Match<Table extends string = string, Field extends string = string> {
  /** The table that has rows for the rows that were sent. Default: the root. */
  readonly table?: Table | null
  /**
   * `position`: the table has exactly one row for each row that was sent, in the same order. Otherwise a
   * column of the table has the value of a field of the row that was sent.
   */
  readonly by: 'position' | { readonly column: string; readonly field: Field }
}

/** A response whose rows do not belong to the rows that were sent. */
export class MatchError extends Error {
  /** The name of the endpoint. */
  readonly endpoint: string

  constructor(endpoint: string, reason: string) {
    super(`The response of ${endpoint} does not match the rows that were sent: ${reason}.`)
    this.name = 'MatchError'
    this.endpoint = endpoint
  }
}

/** Throws a TypeError if a value is not a {@link Match}. */
export function requireMatch(match: Match): void {
  const { by } = Object(match) as Partial<Match>
  const { column, field } = Object(by) as { readonly column?: unknown; readonly field?: unknown }
  if (by === 'position' || (typeof column === 'string' && typeof field === 'string')) return
  throw new TypeError("sendTogether: match.by must be 'position' or { column, field }")
}

/**
 * Returns the part of a response that belongs to each sent row: the matching rows, the rows above and the
 * rows below them. Throws a {@link MatchError} if a row of either side belongs to none of the other.
 */
export function matchRows(
  endpoint: string,
  tables: ResponseTables,
  { table = null, by }: Match,
  sent: readonly object[],
): readonly ResponseTables[] {
  const rows = tableAt(tables, table)?.rows ?? []
  const owners =
    by === 'position'
      ? ownersByPosition(endpoint, rows, sent)
      : ownersByValue(endpoint, rows, by, sent)
  return partsOf(tables, owners, sent.length)
}

/** The index of the sent row by the id of a row of the response. */
type Owners = ReadonlyMap<number, number>

function ownersByPosition(
  endpoint: string,
  rows: readonly TableRow[],
  sent: readonly object[],
): Owners {
  if (rows.length !== sent.length) {
    throw new MatchError(endpoint, `it has ${rows.length} rows for ${sent.length}`)
  }
  return new Map(rows.map(({ id }, index) => [id, index]))
}

function ownersByValue(
  endpoint: string,
  rows: readonly TableRow[],
  { column, field }: { readonly column: string; readonly field: string },
  sent: readonly object[],
): Owners {
  const indexes = new Map<unknown, number>()
  for (const [index, row] of sent.entries()) {
    const value = member(row, field)
    if (value === undefined || indexes.has(value)) {
      throw new MatchError(endpoint, `each sent row needs a ${field} of its own`)
    }
    indexes.set(value, index)
  }
  const owners = new Map<number, number>()
  for (const { id, values } of rows) {
    const index = indexes.get(member(values, column))
    if (index === undefined) throw new MatchError(endpoint, `row ${id} belongs to no sent row`)
    owners.set(id, index)
  }
  const answered = new Set(owners.values())
  const missing = sent.findIndex((_row, index) => !answered.has(index))
  if (missing >= 0) throw new MatchError(endpoint, `it has no row for sent row ${missing}`)
  return owners
}

function member(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined
}

function partsOf(tables: ResponseTables, owners: Owners, count: number): readonly ResponseTables[] {
  const { above } = readTables(tables)
  const partsById = new Map<number, Set<number>>()
  for (const { rows } of allTables(tables)) {
    for (const row of rows) {
      const chain = [...above(row).map((one) => one.row.id), row.id]
      const owner = owners.get(chain.find((id) => owners.has(id)) ?? row.id)
      // The rows above a matching row belong to each of the parts below them.
      for (const id of owner === undefined ? [] : chain) {
        const parts = partsById.get(id) ?? new Set()
        partsById.set(id, parts.add(owner as number))
      }
    }
  }
  const split = ({ path, columns, rows }: ResponseTable): readonly ResponseTable[] => {
    const parts = Array.from({ length: count }, (): TableRow[] => [])
    for (const row of rows) for (const part of partsById.get(row.id) ?? []) parts[part]?.push(row)
    return parts.map((own) => ({ path, columns, rows: own }))
  }
  const roots = split(tables.root)
  const inner = Array.from(tables.tables, ([path, table]) => ({ path, parts: split(table) }))
  return roots.map((root, index) => ({
    isList: tables.isList,
    root,
    tables: new Map(inner.map(({ path, parts }) => [path, parts[index] as ResponseTable])),
  }))
}
