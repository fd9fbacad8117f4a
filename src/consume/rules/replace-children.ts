import type { CollectionAccess, SaveOptions } from '../../definition/handler.ts'
import type { CollectionShape } from '../../definition/item.ts'
import { isServiceError } from '../../errors.ts'
import { deleteTimeOf } from '../../events/saves/in-sequence.ts'
import type { ResponseReader } from '../tables/read-tables.ts'
import { allTables, type ResponseTables, type TableRow } from '../tables/table.ts'
import {
  cell,
  isKeyValue,
  keyText,
  type AnyRule,
  type JoinContext,
  type PreparedItem,
} from './prepare-items.ts'
import { RuleError, type RuleErrorOptions } from './rule-error.ts'
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

/** The rows whose children a rule replaces. */
export interface ParentRows {
  /** Those that have the array of the rule, also an empty one, by the text of the values that their items have. */
  readonly found: ReadonlyMap<string, ParentRow>
  /** The texts of the values of rows without the array: the response says nothing about their children. */
  readonly unknown: ReadonlySet<string>
}

/** Returns the rows whose children a rule replaces. Throws a {@link RuleError} if the caller can't be read. */
export function parentRows(
  rule: AnyRule,
  tables: ResponseTables,
  { reader, caller }: JoinContext,
): ParentRows {
  const { from, children, set, reading, into } = rule
  const found = new Map<string, ParentRow>()
  const unknown = new Set<string>()
  if (from === null || children === undefined) return { found, unknown }
  const withRows = new Set(reader.rows(from).map(({ parent_id }) => parent_id))
  const emptyKind = reading?.entries?.includes(from) === true ? 'object' : 'array'
  const isZipped = reading?.zip?.includes(from) === true
  for (const { path, rows } of allTables(tables)) {
    if (path !== null && !from.startsWith(`${path}/`)) continue
    const column = path === null ? from : from.slice(path.length + 1)
    const hasArray = (row: TableRow): boolean =>
      withRows.has(row.id) ||
      row.empty?.[column] === emptyKind ||
      (isZipped && hasEmptyArray(row, column))
    if (!rows.some(hasArray)) continue
    for (const row of rows) {
      const values = Object.fromEntries(children.map((name) => [name, valueIn(row, path, name)]))
      const text = keyText(into, children, values)
      if (!hasArray(row)) unknown.add(text)
      else if (!found.has(text)) found.set(text, { row, table: path, values })
    }
  }
  return { found, unknown }

  function valueIn(row: TableRow, path: string | null, name: string): unknown {
    const source = set.get(name)
    switch (source?.kind) {
      case 'parent':
        return cell(row, source.column)
      case 'root':
        return cell(reader.top(row), source.column)
      case 'ancestor': {
        const own = path === source.of ? row : undefined
        const other = reader.above(row).find(({ table }) => table === source.of)
        return cell(own ?? other?.row, source.column)
      }
      case 'caller':
        try {
          return source.type === undefined ? caller(source.name) : caller(source.name, source.type)
        } catch (cause) {
          throw parentError({ rule, reader }, { row, table: path }, `set.${name} threw an error`, {
            cause,
          })
        }
      case 'value':
        return source.value
      default:
        return null
    }
  }
}

/** Returns whether an object of parallel arrays has empty ones. */
function hasEmptyArray({ empty = {} }: TableRow, column: string): boolean {
  const start = `${column}/`
  return Object.keys(empty).some((name) => {
    const isMember = name.startsWith(start) && !name.slice(start.length).includes('/')
    return isMember && empty[name] === 'array'
  })
}

/** The children of the rows of a rule. */
export interface Children {
  readonly rule: AnyRule
  readonly reader: ResponseReader
  readonly parents: ParentRows
  /** The items that the response has, of all rules. */
  readonly kept: readonly PreparedItem[]
}

type Access = Pick<CollectionAccess<CollectionShape>, 'filter' | 'delete'>

/** A stored item that the response no longer has. */
interface OtherItem {
  readonly parent: ParentRow
  readonly key: readonly unknown[]
}

/** The deletes of the items that a response no longer has, around the writes of its items. */
export interface Deletes {
  /** Deletes what must be gone before the writes. */
  begin(): Promise<void>
  /** Deletes the others, and returns all results. Throws a {@link RuleError} for the first delete that is rejected. */
  end(): Promise<readonly RuleResult[]>
}

/** Returns the deletes of the stored items of rows that the response no longer has. */
export async function deletesOfOthers(children: Children, access: Access): Promise<Deletes> {
  const time = await deleteTimeOf(access)
  const results: RuleResult[] = []
  let left = await otherItems(children, access)

  /** Deletes the items to which no other refers, and returns the others. */
  async function deleteUnused(): Promise<readonly OtherItem[]> {
    const used: OtherItem[] = []
    for (const other of left) {
      const deleted = await unlessUsed(() => deleteOther(other))
      if (deleted === 'used') used.push(other)
      else results.push(deleteResult(children, other, deleted))
    }
    return used
  }

  async function deleteOther(other: OtherItem) {
    const deleted = await deleteItem(children, other, access)
    if (deleted?.rejected !== true) return deleted
    const { validations } = deleted
    const reason = `an item that the response no longer has can't be deleted${fieldsOf(validations)}`
    throw parentError(children, other.parent, reason, { validations })
  }

  return {
    begin: async () => {
      if (time === 'first') left = await deleteUnused()
    },
    end: async () => {
      while (time !== 'once' && left.length > 1) {
        const used = await deleteUnused()
        const isStuck = used.length === left.length
        left = used
        if (isStuck) break
      }
      for (const other of left)
        results.push(deleteResult(children, other, await deleteOther(other)))
      return results
    },
  }
}

/** Returns what would be deleted, without deleting it. */
export async function tryDeletes(
  children: Children,
  access: Access,
): Promise<readonly RuleResult[]> {
  const others = await otherItems(children, access)
  return others.map((other) => deleteResult(children, other, undefined))
}

/** Returns the stored items of rows that the response no longer has. Throws a {@link RuleError}. */
async function otherItems(children: Children, access: Access): Promise<readonly OtherItem[]> {
  const { rule, parents, kept } = children
  const others: OtherItem[] = []
  if (parents.found.size === 0) return others
  const key = keyNames(rule.into)
  const keys = keysIn(kept, rule.into)
  for (const [text, parent] of parents.found) {
    for (const [name, value] of Object.entries(parent.values)) {
      if (isKeyValue(rule.into, name, value)) continue
      const found =
        (value ?? null) === null ? 'the row has none' : 'that of the row does not fit it'
      throw parentError(children, parent, `replace needs a value of ${name}, and ${found}`)
    }
    if (parents.unknown.has(text)) continue
    const { items } = await namedParent(children, parent, () =>
      access.filter(parent.values as never),
    )
    for (const item of items as readonly Readonly<Record<string, unknown>>[])
      if (!keys.has(keyText(rule.into, key, item)))
        others.push({ parent, key: key.map((name) => item[name]) })
  }
  return others
}

function deleteItem(children: Children, { parent, key }: OtherItem, access: Access) {
  const options: SaveOptions = children.rule.warnings === 'accept' ? { ignoreWarnings: 'all' } : {}
  const one = key.length === 1 ? key[0] : key
  return namedParent(children, parent, () => access.delete(one as never, options))
}

/** Returns what a delete returns; `used` if other items refer to the item. */
async function unlessUsed<Deleted>(remove: () => Promise<Deleted>): Promise<Deleted | 'used'> {
  try {
    return await remove()
  } catch (error) {
    const { cause } = error as RuleError
    if (isServiceError(cause) && cause.code === 'ITEM_IN_USE') return 'used'
    throw error
  }
}

function deleteResult(
  { rule }: Children,
  { parent, key }: OtherItem,
  deleted: { readonly validations: RuleResult['validations'] } | undefined,
): RuleResult {
  const values = Object.fromEntries(keyNames(rule.into).map((name, index) => [name, key[index]]))
  const validations = deleted?.validations ?? []
  return { rule: rule.name, row: parent.row.id, action: 'delete', values, validations }
}

function namedParent<Result>(
  children: Children,
  parent: ParentRow,
  work: () => Promise<Result>,
): Promise<Result> {
  return work().catch((cause: unknown) => {
    throw parentError(children, parent, 'its other items were not deleted', { cause })
  })
}

const keysOfItems = new WeakMap<object, Map<CollectionShape, ReadonlySet<string>>>()

/** Returns the keys of the items of a collection. They are computed once: the parts of a response share its items. */
function keysIn(items: readonly PreparedItem[], into: CollectionShape): ReadonlySet<string> {
  const known = keysOfItems.get(items) ?? new Map<CollectionShape, ReadonlySet<string>>()
  keysOfItems.set(items, known)
  let keys = known.get(into)
  if (keys === undefined) {
    const own = items.filter(({ rule }) => rule.into === into)
    keys = new Set(own.map(({ values }) => keyText(into, keyNames(into), values)))
    known.set(into, keys)
  }
  return keys
}

type ErrorDetails = Pick<RuleErrorOptions, 'validations' | 'cause'>

function parentError(
  { rule, reader }: Pick<Children, 'rule' | 'reader'>,
  { row, table }: Pick<ParentRow, 'row' | 'table'>,
  reason: string,
  details: ErrorDetails = {},
): RuleError {
  return new RuleError(reason, {
    rule: rule.name,
    table: table === null ? rule.endpoint : `${rule.endpoint}/${table}`,
    row: row.id,
    pointer: reader.pointer(row),
    ...details,
  })
}
