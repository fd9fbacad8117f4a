import * as z from 'zod/mini'
import { code as codeOf, nonEmpty } from '../../checks/option-shapes.ts'
import { mistaken, type Mistake } from '../../checks/mistakes.ts'
import { suggestion } from '../../checks/nearest-name.ts'
import { completeOptions } from '../../checks/options.ts'
import type { Field } from '../../definition/field.ts'
import { isValueOf, mustBe } from '../../definition/field-type.ts'
import type { CollectionShape, KeyName } from '../../definition/item.ts'
import { writersOf } from '../../definition/published-field.ts'
import { callerTypes, type CallerTypes } from './caller-reader.ts'
import { childFields, completeJoin, joinShape, keyNames, replaceShape } from './rule-parts.ts'
import type { CompleteJoin } from './rule-parts.ts'
import type { CallerRow, CheckedSources, RuleJoin, RuleRow, RuleSources } from './source.ts'
import type { FlattenOptions } from '../tables/flatten.ts'
import type { Schema } from '../schema.ts'
import type { ResponseShape, ShapeOf } from '../tables/response-types.ts'

/** A joining rule: how rows of a response become items of a collection. */
export interface Rule<Response = never, Row = never> {
  readonly name: string
  /** The name of the endpoint. */
  readonly endpoint: string
  /** Which parts of a response become tables. */
  readonly reading: Reading | undefined
  readonly from: string | null
  readonly into: CollectionShape
  readonly application: string | undefined
  readonly set: ReadonlyMap<string, Source>
  readonly where: ((at: RuleRow) => unknown) | undefined
  readonly upsertBy: readonly string[] | undefined
  readonly warnings: 'reject' | 'accept'
  readonly repeated: 'reject' | 'last'
  readonly join: CompleteJoin | undefined
  /** The fields by which the items of a row above are found, whose other items are deleted; undefined: none are. */
  readonly children: readonly string[] | undefined
  /** Only a type: the responses and rows that the rule is for. */
  readonly '~for'?: (response: Response, row: Row) => void
}

/** Which parts of a response become tables: options of {@link flatten}. */
export type Reading = Pick<FlattenOptions, 'entries' | 'arrays' | 'zip'>

/** The parts of an endpoint that a rule uses: its name, and the type of its responses. */
export interface RuleEndpoint<Response, Read = Response> {
  readonly name: string
  readonly call: (input: never) => Promise<{ readonly body: Response }>
  /** Which parts of its responses become tables, see {@link readAs}. */
  readonly reading?: Reading
  /** The schema of its responses, see {@link describeTables}. */
  readonly response?: Schema | undefined
  /** Only a type: the response as rules read it. */
  readonly '~read'?: (read: Read) => void
}

/** The options of {@link rule}. */
export interface RuleOptions<
  Shape extends ResponseShape,
  C extends CollectionShape,
  From extends (keyof Shape['tables'] & string) | null = null,
  Of extends CollectionShape | undefined = undefined,
  Join extends (keyof Shape['tables'] & string) | null = null,
  Sources = NoInfer<RuleSources<C, Shape, From, CallerRow<Of>, Join>>,
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
  readonly set: Sources
  /** Returns whether a row becomes an item. Default: every row. */
  readonly where?: NoInfer<(at: RuleRow<Shape, From, CallerRow<Of>, Join>) => boolean>
  /** Another table, of which one row belongs to each row. `{ joined: column }` is a source of its cells. Default: none. */
  readonly join?: { readonly table: Join } & NoInfer<RuleJoin<Shape, From, Join>>
  /**
   * The key of the collection: an item with a key that exists is updated, so that a response can be stored
   * again. Default: every item is inserted.
   */
  readonly upsertBy?: readonly NoInfer<KeyName<C>>[]
  /** `accept`: stores items in spite of their warnings. Default `reject`. */
  readonly warnings?: 'reject' | 'accept'
  /** With `upsertBy`, `last`: of several rows with the same key the last one is stored. Default `reject`. */
  readonly repeated?: 'reject' | 'last'
  /**
   * `children`: deletes the stored items of the row above that the response no longer has, in the same transaction, with
   * the event Delete. They are the items with the same value of the field that comes from a row above or from `caller`,
   * which must be in the key or be a reference; otherwise, or if there are several, name those that identify it:
   * `{ children: ['orderId'] }`. Give the whole response to the rules. Default: deletes none.
   */
  readonly replace?:
    'children' | { readonly children: readonly NoInfer<keyof C['fields'] & string>[] }
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
  const Join extends (keyof Shape['tables'] & string) | null = null,
  Read = Response,
  Shape extends ResponseShape = ShapeOf<Read>,
  const Sources = unknown,
>(
  endpoint: RuleEndpoint<Response, Read>,
  options: RuleOptions<
    Shape,
    C,
    From,
    Of,
    Join,
    CheckedSources<Sources, C, Shape, From, CallerRow<Of>, Join>
  >,
): Rule<Response, CallerRow<Of>> {
  return completeRule(endpoint, options)
}

/** A source in the form that rules are evaluated in. */
export type Source =
  | { readonly kind: 'column' | 'parent' | 'root' | 'joined'; readonly column: string }
  | { readonly kind: 'key' }
  | { readonly kind: 'ancestor'; readonly of: string; readonly column: string }
  | { readonly kind: 'caller'; readonly name: string; readonly type: keyof CallerTypes | undefined }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'function'; readonly run: (at: RuleRow) => unknown }

const collection = z.custom<CollectionShape>(
  (value) => typeof (Object(value) as Partial<CollectionShape>).fields === 'object',
  { error: 'must be a collection, as defineCollection returns it' },
)
const code = codeOf<(at: RuleRow) => unknown>()

const shape = z.strictObject({
  name: z.optional(nonEmpty),
  from: z._default(z.nullable(z.string()), null),
  into: collection,
  application: z.optional(z.string()),
  caller: z.optional(collection),
  set: z.record(z.string(), z.unknown()),
  where: z.optional(code),
  upsertBy: z.optional(z.array(z.string()).check(z.minLength(1))),
  warnings: z._default(z.enum(['reject', 'accept']), 'reject'),
  repeated: z._default(z.enum(['reject', 'last']), 'reject'),
  join: z.optional(joinShape),
  replace: z.optional(replaceShape),
})

type Given = z.infer<typeof shape>

/** Checks and completes the options of a rule. Throws a TypeError that lists every mistake. */
function completeRule(
  { name: endpoint, reading }: Pick<RuleEndpoint<unknown>, 'name' | 'reading'>,
  options: object,
): Rule<unknown, unknown> {
  const { name: ownName } = options as { readonly name?: unknown }
  const place = `rule ${typeof ownName === 'string' ? ownName : `of ${endpoint}`}`
  const given = completeOptions(place, shape, options)
  const { into, from } = given
  const mistakes: Mistake[] = []
  const set = new Map<string, Source>()
  for (const [field, source] of Object.entries(given.set)) {
    if (source === undefined) continue
    const checked = Object.hasOwn(into.fields, field)
      ? sourceOf(source, given, into.fields[field] as Field)
      : `is not a field; ${suggestion(field, Object.keys(into.fields), 'fields')}`
    if (typeof checked === 'string')
      mistakes.push({ place: `${place}.set.${field}`, advice: checked })
    else set.set(field, checked)
  }
  mistakes.push(...missing(place, given), ...keyMistakes(place, given))
  const children = childFields(set, given)
  if (typeof children === 'string') mistakes.push({ place: `${place}.replace`, advice: children })
  if (mistakes.length > 0) throw mistaken(mistakes)
  return Object.freeze({
    name: given.name ?? (from === null ? endpoint : `${endpoint}/${from}`),
    endpoint,
    reading,
    from,
    into,
    application: given.application,
    set,
    where: given.where,
    upsertBy: given.upsertBy === undefined ? undefined : keyNames(into),
    warnings: given.warnings,
    repeated: given.repeated,
    join: completeJoin(given.join),
    children: children as readonly string[] | undefined,
  })
}

/** Returns a source, or advice if it is not valid. */
function sourceOf(source: unknown, { from, caller, join }: Given, field: Field): Source | string {
  if (typeof source === 'string') return { kind: 'column', column: source }
  if (typeof source === 'function') {
    return { kind: 'function', run: source as (at: RuleRow) => unknown }
  }
  const members = withoutUndefined(source)
  const names = Object.keys(members).sort().join()
  const { parent, root, of, column, caller: name, type, value } = members
  if (names === 'parent' && typeof parent === 'string') {
    return from === null ? 'a row of the root has no parent' : { kind: 'parent', column: parent }
  }
  if (names === 'root' && typeof root === 'string') return { kind: 'root', column: root }
  if (names === 'key' && members['key'] === true) return { kind: 'key' }
  if (names === 'joined' && typeof members['joined'] === 'string') {
    return join === undefined ? 'needs join' : { kind: 'joined', column: members['joined'] }
  }
  if (names === 'column,of' && typeof of === 'string' && typeof column === 'string') {
    const isAncestor = from?.startsWith(`${of}/`) === true
    return isAncestor
      ? { kind: 'ancestor', of, column }
      : `${of} does not contain the rows of ${from ?? 'the root'}`
  }
  if ((names === 'caller' || names === 'caller,type') && typeof name === 'string') {
    if (type !== undefined && !callerTypes.includes(type as keyof CallerTypes)) {
      return `the type must be one of ${callerTypes.join(', ')}`
    }
    if (type === undefined && caller !== undefined && !Object.hasOwn(caller.fields, name)) {
      return `${name} is not a field of caller; ${suggestion(name, Object.keys(caller.fields), 'fields')}`
    }
    return { kind: 'caller', name, type: type as keyof CallerTypes | undefined }
  }
  if (names === 'value') {
    const isValid = value === null || isValueOf(field, value)
    return isValid ? { kind: 'value', value } : `the value must be ${mustBe(field)}`
  }
  return 'must be a column, { parent }, { root }, { of, column }, { joined }, { key: true }, { caller }, { value } or a function'
}

function withoutUndefined(source: unknown): Readonly<Record<string, unknown>> {
  if (typeof source !== 'object' || source === null) return {}
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined))
}

function missing(place: string, { into, set }: Given): readonly Mistake[] {
  const key = keyNames(into)
  return (
    Object.entries(into.fields)
      .filter(([name, field]) => field.required === true || key.includes(name))
      .filter(([, field]) => field.default === undefined && field.readOnly !== true)
      .filter(([, field]) => (field as { readonly generated?: string }).generated === undefined)
      // Rules save with the rights of the user, and another source supplies what not every user can set.
      .filter(([, field]) => writersOf(field) === undefined)
      .filter(([name]) => set[name] === undefined)
      .map(([name]) => ({
        place: `${place}.set.${name}`,
        advice: 'is missing: the field is required',
      }))
  )
}

function keyMistakes(place: string, { into, set, upsertBy, repeated }: Given): readonly Mistake[] {
  if (upsertBy === undefined) {
    if (repeated === 'reject') return []
    return [{ place: `${place}.repeated`, advice: 'needs upsertBy' }]
  }
  const key = keyNames(into)
  if (key.length === 0) return [{ place: `${place}.upsertBy`, advice: 'the collection has no key' }]
  if (key.toSorted().join() !== upsertBy.toSorted().join()) {
    // An upsert by anything else could store an item twice.
    return [
      {
        place: `${place}.upsertBy`,
        advice: `must be the key of the collection: ${key.join(', ')}`,
      },
    ]
  }
  return key
    .filter((name) => set[name] === undefined)
    .map((name) => ({ place: `${place}.set.${name}`, advice: 'is missing: upsertBy needs it' }))
}
