import type { CollectionAccess } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { Json } from '../protocol/json.ts'
import type { CallerReader } from './rules/caller-reader.ts'
import { withoutUndefined } from '../checks/options.ts'
import type { Reading } from './rules/rule.ts'
import { prepareItems, type AnyRule, type PreparedItem } from './rules/prepare-items.ts'
import { deletesOfOthers, tryDeletes, parentRows, type Children } from './rules/replace-children.ts'
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
export function tablesOf(
  response: unknown,
  options: FlattenOptions = {},
  rules: readonly AnyRule[] = [],
): MakeTables {
  let made: ResponseTables | undefined
  const complete = { ...readingOf(rules), ...withoutUndefined(options) }
  return () => (made ??= flatten((response ?? []) as Json, complete))
}

/** Returns whether a value is a rule. */
export function isRule(value: unknown): boolean {
  return typeof (Object(value) as Partial<AnyRule>).endpoint === 'string'
}

/** Throws a TypeError if rules are not a list of rules. */
export function requireRules(rules: unknown): void {
  if (!Array.isArray(rules)) throw new TypeError('The rules must be a list, such as [rule(...)].')
  const other = rules.findIndex((each: unknown) => !isRule(each))
  if (other >= 0)
    throw new TypeError(`Rule ${other} of the list is not a rule, as rule(...) returns it.`)
}

/** Returns how rules read their response. Throws a TypeError if they read it in different ways. */
function readingOf(rules: readonly AnyRule[]): Reading | undefined {
  requireRules(rules)
  const [first] = rules
  const other = rules.find(
    ({ reading }) => JSON.stringify(reading ?? {}) !== JSON.stringify(first?.reading ?? {}),
  )
  if (first === undefined || other === undefined) return first?.reading
  throw new TypeError(
    `The rules ${first.name} and ${other.name} read one response in different ways: give both the same readAs(...).`,
  )
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
  /** The items of each rule, and the rows whose other items it deletes. */
  readonly steps: readonly RuleStep[]
}

/** What a rule does with a response. */
interface RuleStep extends Children {
  readonly items: readonly PreparedItem[]
}

/**
 * Makes the items of a response, in the order of the rules. Throws a {@link RuleError}. It needs no transaction, so that
 * writers do not wait for it.
 */
export function joinResponse(handling: ResponseHandling): JoinedResponse {
  const { tables, rules, caller } = handling
  if (rules.length === 0) return { ...handling, items: [], steps: [] }
  const reader = readTables(tables())
  const prepared = rules.map((rule) => ({ rule, items: prepareItems(rule, { reader, caller }) }))
  const items = prepared.flatMap((one) => one.items)
  const steps = prepared.map((one) => ({
    ...one,
    reader,
    parents: parentRows(one.rule, tables(), { reader, caller }),
    kept: items,
  }))
  return { ...handling, items, steps }
}

/**
 * Returns parts of one response that delete no items of each other: a row above may have its items in several parts, or
 * may be without its array in one of them.
 */
export function withPartsKept(parts: readonly JoinedResponse[]): readonly JoinedResponse[] {
  const kept = parts.flatMap(({ items }) => items)
  const unknown = new Map<AnyRule, Set<string>>()
  for (const { rule, parents } of parts.flatMap(({ steps }) => steps)) {
    const known = unknown.get(rule) ?? new Set()
    unknown.set(rule, known)
    for (const text of parents.unknown) known.add(text)
  }
  return parts.map((part) => ({
    ...part,
    steps: part.steps.map((step) => {
      const { found } = step.parents
      return { ...step, kept, parents: { found, unknown: unknown.get(step.rule) ?? new Set() } }
    }),
  }))
}

/**
 * Stores the items of a response within a transaction, and calls the handler with `context`, the tables and the results.
 * Rejects with a {@link RuleError} for the first item that is rejected, and with what the handler throws.
 */
export async function storeResponse(
  { steps, tables, onSuccess }: JoinedResponse,
  within: TargetCollections,
  context: object,
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = []
  for (const step of steps) {
    const { into, application } = step.rule
    if (step.items.length === 0 && step.parents.found.size === 0) continue
    const access = within.collection(into, application as never)
    const deletes = await deletesOfOthers(step, access)
    await deletes.begin()
    results.push(...(await writeItems(step.items, access)), ...(await deletes.end()))
  }
  await onSuccess?.(withTables({ ...context, results }, tables) as never)
  return results
}

/** Returns what {@link storeResponse} would store, without writing. */
export async function tryResponse(
  { steps }: JoinedResponse,
  { collection }: TargetCollections,
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = []
  for (const step of steps) {
    const { into, application } = step.rule
    if (step.items.length === 0 && step.parents.found.size === 0) continue
    const access = collection(into, application as never)
    for (const item of step.items) results.push(await named(item, () => tryItem(item, access)))
    results.push(...(await tryDeletes(step, access)))
  }
  return results
}

/** Returns what a handler receives, with the tables of a response. */
function withTables(context: object, tables: MakeTables): object {
  let reader: ResponseReader | undefined
  const get = (): ResponseReader => (reader ??= readTables(tables()))
  return Object.defineProperty(context, 'tables', { enumerable: true, get })
}
