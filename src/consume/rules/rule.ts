import type { CollectionShape } from '../../definition/item.ts'
import type { ResponseShape, ShapeOf } from '../tables/response-types.ts'
import { completeRule, type Rule } from './complete-rule.ts'
import type { CallerRow, RuleRow, RuleSources } from './source.ts'

/** What a rule needs to know of an endpoint: its name, and the type of its responses. */
export interface RuleEndpoint<Response> {
  readonly name: string
  readonly call: (input: never) => Promise<{ readonly body: Response }>
}

/** The options of {@link rule}. */
export interface RuleOptions<
  Shape extends ResponseShape,
  C extends CollectionShape,
  From extends (keyof Shape['tables'] & string) | null = null,
  Of extends CollectionShape | undefined = undefined,
> {
  /** Names the rule in errors. Default: the names of the endpoint and the table. */
  readonly name?: string
  /** The table that has a row for each item. Default: the root. */
  readonly from?: From
  /** The collection that stores the items. */
  readonly into: C
  /** The application that publishes the collection. Required if several applications publish it. */
  readonly application?: string
  /** The collection whose items requests are sent for. It types `caller`. Default: any row. */
  readonly caller?: Of
  /** Where the value of each field comes from: a column of the row, or another source. */
  readonly set: NoInfer<RuleSources<C, Shape, From, CallerRow<Of>>>
  /** Returns whether a row becomes an item. Default: every row. */
  readonly where?: NoInfer<(at: RuleRow<Shape, From, CallerRow<Of>>) => boolean>
  /**
   * The key of the collection: an item with a key that exists is updated, so that a response can be stored
   * again. Default: every item is inserted.
   */
  readonly upsertBy?: readonly NoInfer<keyof C['fields'] & string>[]
  /** `accept`: stores items in spite of their warnings. Default `reject`. */
  readonly warnings?: 'reject' | 'accept'
  /** With `upsertBy`, `last`: of several rows with the same key the last one is stored. Default `reject`. */
  readonly repeated?: 'reject' | 'last'
}

/**
 * Declares how rows of a response become items of a collection: one item for each row of a table, joined
 * with the rows that contain it. Throws a TypeError that lists every mistake.
 *
 * ```ts
 * const parcels = rule(createShipment, {
 *   from: 'parcels',
 *   into: shipments,
 *   upsertBy: ['tracking'],
 *   set: { tracking: 'tracking', carrier: { root: 'carrier/name' }, orderId: { caller: 'orderId' } },
 * })
 * ```
 */
export function rule<
  Response,
  C extends CollectionShape,
  const From extends (keyof Shape['tables'] & string) | null = null,
  Of extends CollectionShape | undefined = undefined,
  Shape extends ResponseShape = ShapeOf<Response>,
>(
  endpoint: RuleEndpoint<Response>,
  options: RuleOptions<Shape, C, From, Of>,
): Rule<Response, CallerRow<Of>> {
  return completeRule(endpoint.name, options)
}
