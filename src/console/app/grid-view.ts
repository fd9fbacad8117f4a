import type { Item } from './api.ts'
import type { Collection } from './collections.ts'
import { go, hashOf } from './route.ts'

/** Which items a grid shows, as its route says. */
export interface GridView {
  /** The order, as in `$sort`; empty for the order by default. */
  readonly sort: string
  readonly search: string
  readonly filters: readonly (readonly [field: string, value: string])[]
  readonly offset: number
  /** The cursor of the page before. */
  readonly after: string | undefined
  readonly size: number
}

/** What a grid has loaded. */
export interface GridPage {
  readonly items: readonly Item[]
  readonly count: number | undefined
  readonly isEstimated: boolean
  /** The cursor of the next page. */
  readonly next: string | undefined
}

const defaultSize = 25

/** Returns the view that a route names. */
export function viewOf({ maximum, filters }: Collection, query: URLSearchParams): GridView {
  return {
    sort: query.get('sort') ?? '',
    search: query.get('q') ?? '',
    filters: [...query]
      .filter(([name]) => name.startsWith('.') && filters.has(name.slice(1)))
      .map(([name, value]) => [name.slice(1), value]),
    offset: numberOf(query.get('offset')),
    after: query.get('after') ?? undefined,
    size: Math.min(maximum, numberOf(query.get('size')) || defaultSize),
  }
}

function numberOf(text: string | null): number {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 0
}

/** Returns the hash of a view. */
export function viewHash(place: readonly string[], view: GridView): string {
  const parameters = new URLSearchParams()
  if (view.sort !== '') parameters.set('sort', view.sort)
  if (view.search !== '') parameters.set('q', view.search)
  for (const [name, value] of view.filters) parameters.append(`.${name}`, value)
  if (view.offset > 0) parameters.set('offset', String(view.offset))
  if (view.after !== undefined) parameters.set('after', view.after)
  if (view.size !== defaultSize) parameters.set('size', String(view.size))
  const text = parameters.toString()
  return hashOf(place) + (text === '' ? '' : `?${text}`)
}

/** Shows another view of the same grid. Other items begin with the first page. */
export function change(
  place: readonly string[],
  view: GridView,
  changes: Partial<GridView>,
  options?: { readonly replace: boolean },
): void {
  const start = 'offset' in changes ? {} : { offset: 0, after: undefined }
  go(viewHash(place, { ...view, ...start, ...changes }), options)
}

/** Returns the parameters that select the items of a view, without those of the page. */
export function selection(
  { sort, search, filters }: GridView,
  fields: readonly string[],
): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of filters) query.append(name, value)
  if (sort !== '') query.set('$sort', sort)
  if (search !== '') query.set('$q', search)
  query.set('$fields', fields.join(','))
  return query
}

/** Returns the parameters of the page of a view. */
export function pageQuery(view: GridView, fields: readonly string[]): URLSearchParams {
  const query = selection(view, fields)
  query.set('$limit', String(view.size))
  if (view.after !== undefined) query.set('$after', view.after)
  else if (view.offset > 0) query.set('$offset', String(view.offset))
  query.set('$count', 'true')
  return query
}
