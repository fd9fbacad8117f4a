import * as z from 'zod/mini'
import { wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import type { CollectionAccess } from '../../definition/handler.ts'
import type { CollectionShape } from '../../definition/item.ts'
import type { Json } from '../../protocol/json.ts'
import { flatten, type FlattenOptions } from '../tables/flatten.ts'
import { readTables, type ResponseReader } from '../tables/read-tables.ts'
import type { ResponseTables } from '../tables/table.ts'
import { callerOf, type Caller } from './caller.ts'
import type { Rule } from './rule.ts'
import { itemError, prepareItems, type AnyRule, type PreparedItem } from './prepare-items.ts'
import { RuleError } from './rule-error.ts'
import { tryItem, writeItem, type RuleResult } from './write-items.ts'

/** The collections of a transaction, as `service.as(user).transaction` gives them. */
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

/** The options of {@link applyRules}. */
export interface ApplyOptions<Row> {
  /** The row that the request was sent for, which `caller` reads. Default: a row without fields. */
  readonly row?: Row
  /** Whether to return what would be stored, without storing it. Default false. */
  readonly dryRun?: boolean
  /** How the response is read as tables. */
  readonly tables?: FlattenOptions
  /** How long the transaction may take, in milliseconds. Default: the `handlerTimeout` of the service. */
  readonly timeout?: number
}

const shape = z.strictObject({
  row: z._default(
    z.custom<object>((value: unknown) => typeof value === 'object' && value !== null, {
      error: 'must be an object',
    }),
    {},
  ),
  dryRun: z._default(z.boolean(), false),
  tables: z.optional(z.custom<FlattenOptions>()),
  timeout: z.optional(wholeNumber(1)),
})

/**
 * Stores the items that rules make of a response, in one transaction and in the order of the rules: one of
 * its own for `service.as(user)`, which is repeated after conflicts with others, or the one in progress that has given
 * its `collection`. Rejects with a {@link RuleError} if an item is rejected, which must end that transaction.
 */
export async function applyRules<Response, Row extends object>(
  target: ActingUser | TargetCollections,
  rules: readonly Rule<NoInfer<Response>, NoInfer<Row>>[],
  response: Response,
  options: ApplyOptions<Row> = {},
): Promise<readonly RuleResult[]> {
  const { row, dryRun, tables, timeout } = completeOptions('applyRules', shape, options)
  const items = joinTables(rules, tablesOf(response, tables), callerOf(row, 'applyRules'))
  if (!('transaction' in target)) return storeItems(items, target, dryRun)
  return target.transaction((within) => storeItems(items, within, dryRun), repeated(timeout))
}

/**
 * Returns the options of a transaction that stores a response, with a time limit if there is one. It is repeated after
 * a conflict, because the call that it follows can't be undone.
 */
export function repeated(timeout: number | undefined) {
  return timeout === undefined ? { repeat: true } : { repeat: true, timeout }
}

/** Makes the tables of a response when they are first needed: not every response can be read as tables. */
export type MakeTables = () => ResponseTables

/** Returns what makes the tables of a response. A response without body has no rows. */
export function tablesOf(response: unknown, options?: FlattenOptions): MakeTables {
  let made: ResponseTables | undefined
  return () => (made ??= flatten((response ?? []) as Json, options))
}

/** Returns what a handler receives, with the tables of a response. */
export function withTables(context: object, tables: MakeTables): object {
  let reader: ResponseReader | undefined
  const get = (): ResponseReader => (reader ??= readTables(tables()))
  return Object.defineProperty({ ...context }, 'tables', { enumerable: true, get })
}

/** Returns the items that rules make of tables, in the order of the rules. Throws a {@link RuleError}. */
export function joinTables(
  rules: readonly AnyRule[],
  tables: MakeTables,
  caller: Caller,
): readonly PreparedItem[] {
  if (rules.length === 0) return []
  const reader = readTables(tables())
  return rules.flatMap((rule) => prepareItems(rule, { reader, caller }))
}

/** Stores items within a transaction. Throws a {@link RuleError} for the first one that is rejected. */
export async function storeItems(
  items: readonly PreparedItem[],
  { collection }: TargetCollections,
  dryRun = false,
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = []
  for (const item of items) {
    const { into, application } = item.rule
    const access = collection(into, application as never)
    try {
      results.push(await (dryRun ? tryItem(item, access) : writeItem(item, access)))
    } catch (cause) {
      throw cause instanceof RuleError
        ? cause
        : itemError(item, 'the item was not stored', { cause })
    }
  }
  return results
}
