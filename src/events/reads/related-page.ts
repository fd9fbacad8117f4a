import { notFound } from '../../errors.ts'
import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import type { JsonText } from '../../protocol/envelope.ts'
import type { PublishedExpansion } from '../../definition/published.ts'
import type { Expanded, FilterEvent } from '../../request/event.ts'
import type { Outcome } from '../../request/outcome.ts'
import { planPage } from '../../request/plan-query.ts'
import { clientMistakes, sortOrder } from '../../request/resolve.ts'
import type { View } from '../../request/view.ts'
import type { RelatedQuery, RelatedTextPage } from '../../storage/adapter.ts'
import type { Caller } from '../runtime.ts'
import { traced } from '../traced.ts'
import type { Unit } from '../units/unit.ts'
import { asText, withMembers } from './expand.ts'
import { contextOf } from './filter.ts'

/**
 * Runs a Filter with related items as one read, for a response. Undefined if it has none, or if application code or storage
 * needs several reads: then the related items are read after the page.
 */
export function filterWithRelated(
  event: FilterEvent,
  { runtime, budget: { deadline } }: Unit,
  caller: Caller,
  form: 'text' | 'rows',
): MaybePromise<Outcome | undefined> {
  const { collection, output, expanded } = event
  if (expanded === undefined || form !== 'text') return undefined
  const { adapter } = runtime
  const isStored = output?.computed.length === 0 && expanded.every(isReadDirectly)
  if (adapter.filterRelated === undefined || !isStored || !isPlain(event)) return undefined
  const { select } = output
  const isLinked = expanded.every(({ expansion }) =>
    expansion.own.every(({ name }) => select.includes(name)),
  )
  if (!isLinked) return undefined
  const relations = expanded.flatMap((one) => relatedQuery(one) ?? [])
  // A function may compute fields of the other items.
  if (relations.length < expanded.length) return undefined
  const query = { ...event.query, select }
  const page = adapter.filterRelated(collection, query, relations, contextOf(caller, deadline))
  if (page === undefined) return undefined
  const { principal } = caller
  // Each relation is a trace of its own, as when it is read after the page.
  const read = expanded.reduce<MaybePromise<RelatedTextPage | undefined>>(
    (before, { expansion }) =>
      traced(
        { collection: expansion.to, event: 'Filter', principal, nested: true },
        () => before,
        () => 'page',
      ),
    page,
  )
  return whenDone(read, (found) => found && outcomeOf(event, found, select))
}

/** Returns whether an event is one read of stored items. */
function isPlain({ collection, result, paging, query }: FilterEvent): boolean {
  const isPage = result === 'page' || collection.concurrency === undefined
  return isPage && paging === undefined && query.search === null && !query.count
}

function isReadDirectly({ expansion: { to } }: Expanded): boolean {
  return to.filtersDirectly
}

// Callers with the same roles have the same view, unless a row rule limits it.
const planned = new WeakMap<View, Map<PublishedExpansion, RelatedQuery | undefined>>()

/** Returns the read of a relation. Undefined if its items have computed fields. */
function relatedQuery(expanded: Expanded): RelatedQuery | undefined {
  const { expansion, view } = expanded
  if (view.rows.length > 0) return plan(expanded)
  const known = planned.get(view) ?? new Map<PublishedExpansion, RelatedQuery | undefined>()
  planned.set(view, known)
  if (!known.has(expansion)) known.set(expansion, plan(expanded))
  return known.get(expansion)
}

function plan({ expansion, view }: Expanded): RelatedQuery | undefined {
  const { to, isMany, own, theirs, sort, limit } = expansion
  // One more item shows whether a list is complete. A reference leads to one item, which needs no order.
  const limits = isMany
    ? { sort: sortOrder(to, sort, clientMistakes), limit: limit + 1 }
    : { sort: [], limit: 1 }
  const { query, output } = planPage(view, { conditions: [], ...limits })
  const named = { own: own.map(({ name }) => name), theirs: theirs.map(({ name }) => name) }
  if (output !== undefined) return undefined
  // Storage remembers what it prepares for a frozen query.
  return { collection: to, query: Object.freeze(Object.assign({}, query)), ...named }
}

function outcomeOf(
  { collection, result, expanded = [] }: FilterEvent,
  page: RelatedTextPage,
  select: readonly string[],
): Outcome {
  const items = page.items.map((item, index) =>
    withMembers(
      item,
      expanded.map((one, at) => [one.expansion.name, valueOf(one, page.related[at]?.[index])]),
    ),
  )
  if (result === 'page')
    return { type: 'page', collection, select, page: { items }, count: null, validations: [] }
  const [json] = items
  if (json === undefined) throw notFound()
  return { type: 'item', collection, select, item: { json }, validations: [] }
}

function valueOf(
  { expansion: { isMany, limit } }: Expanded,
  items: readonly JsonText[] = [],
): JsonText {
  if (!isMany) return items[0] ?? asText.none
  return asText.list(items.slice(0, limit), items.length > limit)
}
