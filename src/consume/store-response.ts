import type { CollectionAccess } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { Json } from '../protocol/json.ts'
import type { CallerReader } from './rules/caller-reader.ts'
import { prepareItems, type AnyRule, type PreparedItem } from './rules/prepare-items.ts'
import { tryItem, type RuleResult } from './rules/write-items.ts'
import { named, writeItems } from './rules/write-together.ts'
import { flatten, type FlattenOptions } from './tables/flatten.ts'
import { readTables, type ResponseReader } from './tables/read-tables.ts'
import type { ResponseTables } from './tables/table.ts'

/** The collections of a transaction, as `service.as(user).transaction` passes them. */
export interface TargetCollections {
  readonly collection: (
    definition: CollectionShape,
    application?: never,
  ) => CollectionAccess<CollectionShape>
}

/** Who stores the items: `service.as(user)`. */
export interface ActingUser<Within extends TargetCollections = TargetCollections> {
  transaction<Result>(
    work: (within: Within) => Promise<Result>,
    options?: { readonly timeout?: number; readonly repeat?: boolean },
  ): Promise<Result>
}

/**
 * Returns the options of a transaction that stores a response, with a time limit if there is one. It is repeated after
 * a conflict, because the call that it follows can't be undone.
 */
export function repeated(timeout: number | undefined) {
  return timeout === undefined ? { repeatable: true } : { repeatable: true, timeout }
}

/** Makes the tables of a response when they are first needed: not every response can be read as tables. */
export type MakeTables = () => ResponseTables

/** Returns what makes the tables of a response. A response without body has no rows. */
export function tablesOf(response: unknown, options?: FlattenOptions): MakeTables {
  let made: ResponseTables | undefined
  return () => (made ??= flatten((response ?? []) as Json, options))
}

/** What happens with a response, or with a part of one. */
export interface ResponseHandling {
  readonly tables: MakeTables
  readonly rules: readonly AnyRule[]
  readonly caller: CallerReader
  /** Called after the rules, in the same transaction. */
  readonly onSuccess?: ((at: never) => void | Promise<void>) | undefined
}

/** A response with the items that rules make of it. */
export interface JoinedResponse extends ResponseHandling {
  readonly items: readonly PreparedItem[]
}

/**
 * Makes the items of a response, in the order of the rules. Throws a {@link RuleError}. It needs no transaction, so that
 * writers do not wait for it.
 */
export function joinResponse(handling: ResponseHandling): JoinedResponse {
  const { tables, rules, caller } = handling
  if (rules.length === 0) return { ...handling, items: [] }
  const reader = readTables(tables())
  return { ...handling, items: rules.flatMap((rule) => prepareItems(rule, { reader, caller })) }
}

/**
 * Stores the items of a response within a transaction, and calls the handler with `context`, the tables and the results.
 * Rejects with a {@link RuleError} for the first item that is rejected, and with what the handler throws.
 */
export async function storeResponse(
  { items, tables, onSuccess }: JoinedResponse,
  within: TargetCollections,
  context: object,
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = []
  for (const some of byRule(items)) {
    const [{ rule }] = some
    const access = within.collection(rule.into, rule.application as never)
    results.push(...(await writeItems(some, access)))
  }
  await onSuccess?.(withTables({ ...context, results }, tables) as never)
  return results
}

/** Returns what {@link storeResponse} would store, without writing. */
export async function tryResponse(
  { items }: JoinedResponse,
  { collection }: TargetCollections,
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = []
  for (const item of items) {
    const { into, application } = item.rule
    const access = collection(into, application as never)
    results.push(await named(item, () => tryItem(item, access)))
  }
  return results
}

/** Returns the items of each rule. They stand next to each other. */
function byRule(
  items: readonly PreparedItem[],
): readonly (readonly [PreparedItem, ...PreparedItem[]])[] {
  const groups = new Map<AnyRule, [PreparedItem, ...PreparedItem[]]>()
  for (const item of items) {
    const group = groups.get(item.rule)
    if (group === undefined) groups.set(item.rule, [item])
    else group.push(item)
  }
  return [...groups.values()]
}

/** Returns what a handler receives, with the tables of a response. */
function withTables(context: object, tables: MakeTables): object {
  let reader: ResponseReader | undefined
  const get = (): ResponseReader => (reader ??= readTables(tables()))
  return Object.defineProperty(context, 'tables', { enumerable: true, get })
}
