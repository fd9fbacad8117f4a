import * as z from 'zod/mini'
import { wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import {
  joinResponse,
  repeated,
  storeResponse,
  tablesOf,
  tryResponse,
  type ActingUser,
  type TargetCollections,
} from '../store-response.ts'
import type { FlattenOptions } from '../tables/flatten.ts'
import { callerReader } from './caller-reader.ts'
import type { Rule } from './rule.ts'
import type { RuleResult } from './write-items.ts'

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
 * its `collection`. Rejects with a RuleError if an item is rejected, which must end that transaction.
 */
export async function applyRules<Response, Row extends object>(
  target: ActingUser | TargetCollections,
  rules: readonly Rule<NoInfer<Response>, NoInfer<Row>>[],
  response: Response,
  options: ApplyOptions<Row> = {},
): Promise<readonly RuleResult[]> {
  const { row, dryRun, tables, timeout } = completeOptions('applyRules', shape, options)
  const caller = callerReader(row, 'applyRules')
  const joined = joinResponse({ rules, tables: tablesOf(response, tables, rules), caller })
  const work = (within: TargetCollections): Promise<readonly RuleResult[]> =>
    dryRun ? tryResponse(joined, within) : storeResponse(joined, within, {})
  return 'transaction' in target ? target.transaction(work, repeated(timeout)) : work(target)
}
