import type { CollectionAccess, SaveOptions } from '../../definition/handler.ts'
import type { CollectionShape } from '../../definition/item.ts'
import type { ValidationEntry } from '../../protocol/envelope.ts'
import type { ResponseReader } from '../tables/read-tables.ts'
import { allTables, type ResponseTables, type TableRow } from '../tables/table.ts'
import { cell, keyText, type AnyRule, type PreparedItem } from './prepare-items.ts'
import { RuleError } from './rule-error.ts'
import { keyNames } from './rule-parts.ts'
import { fieldsOf, type RuleResult } from './write-items.ts'

/** A row of a response whose children are replaced. */
export interface ParentRow {
  readonly row: TableRow
  /** The path of its table; null is the root. */
  readonly table: string | null
  /** The values of the fields that its items have. */
  readonly values: Readonly<Record<string, unknown>>
}

/**
 * Returns the rows whose children a rule replaces: those that have the array of its table, also an empty one. A response
 * without the array says nothing about the children.
 */
export function parentRows(
  { from, children, set, reading }: AnyRule,
  tables: ResponseTables,
  reader: ResponseReader,
): readonly ParentRow[] {
  if (from === null || children === undefined) return []
  const withRows = new Set(reader.rows(from).map(({ parent_id }) => parent_id))
  const emptyKind = reading?.entries?.includes(from) === true ? 'object' : 'array'
  const found: ParentRow[] = []
  for (const { path, rows } of allTables(tables)) {
    if (path !== null && !from.startsWith(`${path}/`)) continue
    const column = path === null ? from : from.slice(path.length + 1)
    for (const row of rows) {
      if (!withRows.has(row.id) && row.empty?.[column] !== emptyKind) continue
      const values = children.map((name) => [name, valueIn(row, path, name)] as const)
      found.push({ row, table: path, values: Object.fromEntries(values) })
    }
  }
  return found

  function valueIn(row: TableRow, path: string | null, name: string): unknown {
    const source = set.get(name)
    if (source?.kind === 'parent') return cell(row, source.column)
    if (source?.kind === 'root') return cell(reader.top(row), source.column)
    if (source?.kind !== 'ancestor') return null
    const own = path === source.of ? row : undefined
    const other = reader.above(row).find(({ table }) => table === source.of)
    return cell(own ?? other?.row, source.column)
  }
}

/** The children of the rows of a rule. */
export interface Children {
  readonly rule: AnyRule
  readonly reader: ResponseReader
  readonly parents: readonly ParentRow[]
  /** The items that the response has, of all rules for the collection. */
  readonly kept: readonly Pick<PreparedItem, 'values'>[]
}

type Access = Pick<CollectionAccess<CollectionShape>, 'filter' | 'delete'>

/**
 * Deletes the stored items of rows that the response no longer has. Throws a {@link RuleError} for the first one that is
 * rejected. `isTried`: deletes none, and returns what it would delete.
 */
export async function deleteOthers(
  { rule, reader, parents, kept }: Children,
  access: Access,
  isTried = false,
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = []
  if (parents.length === 0) return results
  const key = keyNames(rule.into)
  const keys = new Set(kept.map(({ values }) => keyText(rule.into, key, values)))
  const options: SaveOptions = rule.warnings === 'accept' ? { ignoreWarnings: 'all' } : {}
  for (const parent of parents) {
    const named = <Result>(work: () => Promise<Result>): Promise<Result> =>
      work().catch((cause: unknown) => {
        throw failure(parent, 'its other items were not deleted', { cause })
      })
    const empty = Object.keys(parent.values).find((name) => (parent.values[name] ?? null) === null)
    if (empty !== undefined) {
      throw failure(parent, `replace needs a value of ${empty}, and the row has none`)
    }
    const { items } = await named(() => access.filter(parent.values as never))
    for (const item of items as readonly Readonly<Record<string, unknown>>[]) {
      if (keys.has(keyText(rule.into, key, item))) continue
      const parts = key.map((name) => item[name])
      const one = parts.length === 1 ? parts[0] : parts
      const deleted = isTried ? undefined : await named(() => access.delete(one as never, options))
      if (deleted?.rejected === true) {
        const { validations } = deleted
        const reason = `an item that the response no longer has can't be deleted${fieldsOf(validations)}`
        throw failure(parent, reason, { validations })
      }
      const values = Object.fromEntries(key.map((name) => [name, item[name]]))
      const validations = deleted?.validations ?? []
      results.push({ rule: rule.name, row: parent.row.id, action: 'delete', values, validations })
    }
  }
  return results

  function failure(
    { row, table }: ParentRow,
    reason: string,
    details: { readonly validations?: readonly ValidationEntry[]; readonly cause?: unknown } = {},
  ): RuleError {
    return new RuleError(reason, {
      rule: rule.name,
      table: table === null ? rule.endpoint : `${rule.endpoint}/${table}`,
      row: row.id,
      pointer: reader.pointer(row),
      ...details,
    })
  }
}
