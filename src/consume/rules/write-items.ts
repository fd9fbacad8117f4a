import type { CollectionAccess, SaveOptions, SaveResult } from '../../definition/handler.ts'
import type { CollectionShape } from '../../definition/item.ts'
import type { Field } from '../../definition/field.ts'
import type { ValidationEntry } from '../../protocol/envelope.ts'
import { isKeyValue, itemError, storedForm, type PreparedItem } from './prepare-items.ts'

/** What a rule did with a row of a response, or would do. */
export interface RuleResult {
  /** The name of the rule. */
  readonly rule: string
  /** The id of the row; of a delete, of the row above. */
  readonly row: number
  readonly action: 'insert' | 'update' | 'unchanged' | 'delete'
  /** The values that the rule has set; of a delete, the key. */
  readonly values: Readonly<Record<string, unknown>>
  /** Warnings that were accepted, and information. Of a dry run also errors and rejected warnings. */
  readonly validations: readonly ValidationEntry[]
}

type Saved = Pick<SaveResult<Record<string, unknown>>, 'rejected' | 'validations'>
type Values = Readonly<Record<string, unknown>>

// The types of a rule were checked where it was declared.
interface Access {
  get(key: unknown): Promise<Values | undefined>
  change(values: Values, key: unknown): Promise<Saved | undefined>
  insert(values: Values, options: SaveOptions): Promise<Saved>
  update(key: unknown, values: Values, options: SaveOptions): Promise<Saved | undefined>
}

/** Inserts or updates an item. Throws a RuleError if it is rejected. */
export async function writeItem(
  item: PreparedItem,
  collection: CollectionAccess<CollectionShape>,
): Promise<RuleResult> {
  const access = collection as unknown as Access
  const { rule, values } = item
  const key = keyOf(item)
  const stored = key === undefined ? undefined : await access.get(key)
  if (stored !== undefined && isSame(item, stored)) return resultOf(item, 'unchanged', [])
  const accepts = rule.warnings === 'accept'
  const options: SaveOptions = accepts ? { ignoreWarnings: 'all' } : {}
  const findings = accepts ? await access.change(values, stored && key) : undefined
  const accepted = (findings?.validations ?? []).filter(({ severity }) => severity === 'warning')
  const action = stored === undefined ? 'insert' : 'update'
  const saved =
    stored === undefined
      ? await access.insert(values, options)
      : await access.update(key, values, options)
  return writtenItem({ item, action, key, saved, accepted }, collection)
}

/** A save of an item that has ended. */
export interface EndedSave {
  readonly item: PreparedItem
  readonly action: 'insert' | 'update'
  readonly key: unknown
  /** Undefined: the item to update does not exist. */
  readonly saved: Saved | undefined
  /** The warnings that were accepted. */
  readonly accepted?: readonly ValidationEntry[]
}

/** Returns the result of a save. Throws a RuleError if the item was rejected. */
export async function writtenItem(
  { item, action, key, saved, accepted = [] }: EndedSave,
  collection: CollectionAccess<CollectionShape>,
): Promise<RuleResult> {
  const access = collection as unknown as Access
  // Another writer may have inserted the item since it was looked for.
  const mayExist = action === 'insert' && saved?.rejected === true && key !== undefined
  if (mayExist && (await access.get(key)) !== undefined) {
    const options: SaveOptions = item.rule.warnings === 'accept' ? { ignoreWarnings: 'all' } : {}
    const updated = await access.update(key, item.values, options)
    return writtenItem({ item, action: 'update', key, saved: updated, accepted }, collection)
  }
  if (saved === undefined) throw itemError(item, 'the item was deleted meanwhile')
  if (saved.rejected) throw rejection(item, saved.validations)
  return resultOf(item, action, [...accepted, ...saved.validations])
}

/** Returns what {@link writeItem} would do, without writing. */
export async function tryItem(
  item: PreparedItem,
  collection: CollectionAccess<CollectionShape>,
): Promise<RuleResult> {
  const access = collection as unknown as Access
  const key = keyOf(item)
  const stored = key === undefined ? undefined : await access.get(key)
  if (stored !== undefined && isSame(item, stored)) return resultOf(item, 'unchanged', [])
  const action = stored === undefined ? 'insert' : 'update'
  const changed = await access.change(item.values, stored && key)
  return resultOf(item, action, changed?.validations ?? [])
}

/** Returns the key of an upsert; undefined if a value is not valid, so that the insert reports it. */
export function keyOf({ rule, values }: PreparedItem): unknown {
  if (rule.upsertBy === undefined) return undefined
  const parts = rule.upsertBy.map((name) => values[name])
  const isValid = rule.upsertBy.every((name) => isKeyValue(rule.into, name, values[name]))
  if (!isValid) return undefined
  return parts.length === 1 ? parts[0] : parts
}

/** Returns whether a stored item has the values that the rule sets. */
export function isSame(
  { rule, values }: PreparedItem,
  stored: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(values).every(([name, value]) => {
    const field = rule.into.fields[name] as Field
    return name in stored && storedForm(field, value) === storedForm(field, stored[name])
  })
}

function rejection(item: PreparedItem, validations: readonly ValidationEntry[]): Error {
  const hasErrors = validations.some(({ severity }) => severity === 'error')
  const reason = hasErrors
    ? 'the item was rejected'
    : 'the item has warnings, which the rule rejects'
  return itemError(item, `${reason}${fieldsOf(validations)}`, { validations })
}

/** Returns the result for the row of an item. */
export function resultOf(
  { rule, row, values }: PreparedItem,
  action: RuleResult['action'],
  validations: readonly ValidationEntry[],
): RuleResult {
  return { rule: rule.name, row: row.id, action, values, validations }
}

/** Returns the fields that validations are about, for a message. */
export function fieldsOf(validations: readonly ValidationEntry[]): string {
  const fields = new Set(validations.flatMap(({ field }) => field ?? []))
  return fields.size === 0 ? '' : ` (${[...fields].join(', ')})`
}
