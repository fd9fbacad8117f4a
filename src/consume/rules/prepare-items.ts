import type { ItemValues } from '../../request/query.ts'
import { isThenable } from '../../maybe-promise.ts'
import { fieldTypes, isValueOf } from '../../definition/field-type.ts'
import type { Field } from '../../definition/field.ts'
import type { CollectionShape } from '../../definition/item.ts'
import { canonicalJson } from '../../protocol/json.ts'
import type { ResponseReader } from '../tables/read-tables.ts'
import type { AnyColumns, TableRow } from '../tables/table.ts'
import type { CallerReader } from './caller-reader.ts'
import type { Rule, Source } from './rule.ts'
import { RuleError, type RuleErrorOptions } from './rule-error.ts'
import type { RuleRow } from './source.ts'

/** A rule for any response and row. */
export type AnyRule = Rule

/** An item that a rule makes of a row. */
export interface PreparedItem {
  readonly rule: AnyRule
  readonly row: TableRow
  readonly values: Readonly<ItemValues>
  readonly reader: ResponseReader
}

/** Returns an error about the row of an item. */
export function itemError(
  { rule, row, reader }: Omit<PreparedItem, 'values'>,
  reason: string,
  details: Pick<RuleErrorOptions, 'validations' | 'cause'> = {},
): RuleError {
  return new RuleError(reason, {
    rule: rule.name,
    table: rule.from === null ? rule.endpoint : `${rule.endpoint}/${rule.from}`,
    row: row.id,
    pointer: reader.pointer(row),
    ...details,
  })
}

/** What the rows of a rule are joined with. */
export interface JoinContext {
  readonly reader: ResponseReader
  readonly caller: CallerReader
}

/** Returns the items that a rule makes of a response, in document order. Throws a {@link RuleError}. */
export function prepareItems(rule: AnyRule, context: JoinContext): readonly PreparedItem[] {
  const { reader } = context
  const rows = rule.from === null ? reader.root : reader.rows(rule.from)
  const joined = joinedRows(rule, reader)
  const items = rows.flatMap((row) => prepareItem(rule, row, { ...context, joined }) ?? [])
  return rule.upsertBy === undefined ? items : withoutRepeated(rule, rule.upsertBy, items)
}

interface RowContext extends JoinContext {
  /** Returns the row of `join` that belongs to a row. */
  readonly joined: (row: TableRow) => TableRow | undefined
}

/** Returns a function that finds the row of `join` that belongs to a row. It throws if there are several. */
function joinedRows(rule: AnyRule, reader: ResponseReader): RowContext['joined'] {
  const { join } = rule
  if (join === undefined) return () => undefined
  const { table, on } = join
  const byCells = new Map<string, TableRow[]>()
  for (const row of reader.rows(table)) {
    const cells = on.map(([column]) => cell(row, column))
    const same = byCells.get(JSON.stringify(cells))
    if (same === undefined) byCells.set(JSON.stringify(cells), [row])
    else same.push(row)
  }
  return (row) => {
    const cells = on.map(([, own]) => (typeof own === 'string' ? cell(row, own) : own.value))
    if (cells.some((value) => (value ?? null) === null)) return undefined
    const [found, other] = byCells.get(JSON.stringify(cells)) ?? []
    if (found === undefined || other === undefined) return found
    const reason = `rows ${found.id} and ${other.id} of ${table} both match its join`
    throw itemError({ rule, row, reader }, reason)
  }
}

function prepareItem(rule: AnyRule, row: TableRow, context: RowContext): PreparedItem | undefined {
  const { reader, joined } = context
  let at: RuleRow | undefined
  const call = (name: string, run: (at: RuleRow) => unknown): unknown => {
    let result: unknown
    try {
      result = run((at ??= ruleRow(row, context)))
    } catch (cause) {
      // The join of the row has failed.
      if (cause instanceof RuleError) throw cause
      throw itemError({ rule, row, reader }, `${name} threw an error`, { cause })
    }
    if (!isThenable(result)) return result
    Promise.resolve(result).catch(() => undefined)
    const reason = `${name} returned a promise, and must return a value`
    throw itemError({ rule, row, reader }, reason)
  }
  if (rule.where !== undefined && call('where', rule.where) !== true) return undefined
  const values: ItemValues = {}
  for (const [field, source] of rule.set) {
    values[field] = (valueOf(field, source) ?? null) as ItemValues[string]
  }
  return { rule, row, values, reader }

  function valueOf(field: string, source: Source): unknown {
    switch (source.kind) {
      case 'column':
        return cell(row, source.column)
      case 'parent':
        return cell(reader.parent(row), source.column)
      case 'root':
        return cell(reader.top(row), source.column)
      case 'ancestor': {
        const above = reader.above(row).find(({ table }) => table === source.of)
        return cell(above?.row, source.column)
      }
      case 'caller':
        // Its value may not be convertible.
        return call(`set.${field}`, ({ caller }) =>
          source.type === undefined ? caller(source.name) : caller(source.name, source.type),
        )
      case 'joined':
        return cell(joined(row), source.column)
      case 'key':
        return row.key ?? null
      case 'value':
        return source.value
      case 'function':
        return call(`set.${field}`, source.run)
    }
  }
}

/** Returns the cell of a column; null if there is none. */
export function cell(row: TableRow | undefined, column: string): unknown {
  return row !== undefined && Object.hasOwn(row.values, column) ? row.values[column] : null
}

/** What functions receive. The rows above are looked for only when a function reads them. */
function ruleRow(row: TableRow, { reader, caller, joined }: RowContext): RuleRow {
  return {
    row: row.values,
    get parent(): AnyColumns {
      return (reader.parent(row) ?? row).values
    },
    get root(): AnyColumns {
      return reader.top(row).values
    },
    index: row.index,
    key: row.key ?? null,
    caller,
    get joined(): AnyColumns | null {
      return joined(row)?.values ?? null
    },
    below: (table: string) => reader.below(row, table).map(({ values }) => values),
  } as RuleRow
}

/** Returns the items without those whose key another row has. Throws if the rule rejects such rows. */
function withoutRepeated(
  { into, repeated }: AnyRule,
  key: readonly string[],
  items: readonly PreparedItem[],
): readonly PreparedItem[] {
  const byKey = new Map<string, PreparedItem>()
  for (const item of items) {
    const text = keyText(into, key, item.values)
    const other = byKey.get(text)
    if (other !== undefined && repeated === 'reject') {
      throw itemError(item, `row ${other.row.id} has the same ${key.join(', ')}`)
    }
    byKey.set(text, item)
  }
  return [...byKey.values()]
}

/** Returns the same text for equal keys. */
export function keyText(
  { fields }: CollectionShape,
  key: readonly string[],
  values: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify(key.map((name) => storedForm(fields[name] as Field, values[name])))
}

/** Returns a value in the form in which equal values are equal; an invalid one as it is. */
export function storedForm(field: Field, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (!isValueOf(field, value)) return value
  return field.type === 'json'
    ? canonicalJson(value)
    : fieldTypes[field.type].store(value as never, field)
}

/** Returns whether a value can be that of a field in stored items, so that they can be looked for by it. */
export function isKeyValue({ fields }: CollectionShape, name: string, value: unknown): boolean {
  return value !== null && value !== undefined && isValueOf(fields[name] as Field, value)
}
