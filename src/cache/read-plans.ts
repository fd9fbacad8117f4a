import type { PublishedEventName } from '../definition/handler.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { ResourcePath } from '../protocol/path.ts'
import type { DataEvent, FilterEvent } from '../request/event.ts'
import { withRows } from '../request/plan-query.ts'
import type { Condition, StorageQuery } from '../request/query.ts'
import type { View } from '../request/view.ts'
import { generations } from './generations.ts'
import { seenOnce } from './seen-once.ts'

/** Where a request leads: its path and query, and the event that its method invokes. */
export interface Route {
  readonly path: ResourcePath
  /** The raw query string without `?`. */
  readonly query: string
  /** Undefined if the path is unknown. */
  readonly published: PublishedCollection | undefined
  readonly name: PublishedEventName
  /** What was planned for the same target before; absent if nothing is kept. */
  readonly plans?: ReadPlan[]
}

/** What is read for callers who may read the same fields. The row rule of a caller is not part of the query. */
interface ReadPlan {
  readonly readable: PublishedCollection
  readonly result: FilterEvent['result']
  readonly query: StorageQuery
  readonly output: FilterEvent['output']
  readonly paging: FilterEvent['paging']
}

/**
 * The plans of reads that clients repeat: everything between the raw target and the event is the same each
 * time. Only targets that were planned without an error are kept.
 */
export interface ReadPlans {
  /** Returns the route of a target with a plan. */
  routeOf(method: string, target: string): Route | undefined
  /**
   * Keeps the event of a route if it reads a collection without handlers and its target is repeated. The
   * target MUST NOT contain credentials.
   */
  keep(target: string, route: Route, event: DataEvent): void
}

const maxBytes = 4 * 1024 * 1024
// An estimate: the route, its path and its queries.
const planBytes = 1_000
// Long enough for a key, a sort order and a few conditions.
const maxTargetLength = 300
// Callers with different roles may have different fields.
const maxViews = 4
const seenTargets = 4_096

/** Creates the plans of one service, of about 4,000 targets of at most 300 characters. */
export function createReadPlans(): ReadPlans {
  const routes = generations<Required<Route>>(maxBytes)
  const seen = seenOnce(seenTargets)

  return {
    routeOf: (method, target) => (method === 'GET' ? routes.get(target) : undefined),
    keep(target, route, event) {
      if (event.type !== 'Filter' || !event.collection.filtersDirectly) return
      // The row rule of another collection depends on the caller.
      if (event.collection.related.size > 0 && event.query.conditions.some(isThrough)) return
      // The rights on the related items may be others the next time.
      if (event.expanded !== undefined) return
      if (target.length > maxTargetLength || !seen.isRepeated(target, '')) return
      const { plans = [] } = route
      if (plans.length >= maxViews) plans.length = 0
      plans.push(planOf(event))
      if (route.plans === undefined) {
        routes.set(target, Object.assign({}, route, { plans }), planBytes + 2 * target.length)
      }
    },
  }
}

function isThrough({ is }: Condition): boolean {
  return is === 'through'
}

/** Returns the event that was planned for a view of the same fields; undefined if nothing is kept. */
export function plannedRead({ plans }: Route, view: View): FilterEvent | undefined {
  const plan = plans?.find(({ readable }) => readable === view.readable)
  if (plan === undefined) return undefined
  const { collection, rows } = view
  const { result, query, output, paging } = plan
  const own = rows.length === 0 ? query : { ...query, conditions: withRows(query.conditions, view) }
  const event = { type: 'Filter', collection, view, result, query: own, output } as const
  return paging === undefined ? event : { paging, ...event }
}

// The conditions of the row rule are the last ones. The query is frozen, because later requests use it again. V8 gives
// each object that is spread, and then extended or frozen, a hidden class of its own, which makes every use of it slow.
function planOf({ query, output, paging, result, view }: FilterEvent): ReadPlan {
  const { rows, readable } = view
  const conditions = query.conditions.slice(0, query.conditions.length - rows.length)
  const own = Object.freeze(Object.assign({}, query, { conditions }))
  return { readable, result, output, paging, query: own }
}
