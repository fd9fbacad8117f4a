import type { IncomingMessage, ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { connection, endpoint, typed, type Paging } from '../../../src/entries/consume.ts'
import { integer, text } from '../../../src/entries/index.ts'
import { readJson, respond, startServer, type LocalServer } from '../server.ts'

/** An issue as the tracker has it. */
export interface Issue {
  readonly number: number
  readonly title: string
  readonly state: string
  readonly rank: number | null
  readonly author: { readonly login: string | null }
}

/** The collection of the issues in the tracker. */
export const data = {
  key: 'number',
  fields: {
    number: integer({ readOnly: true }),
    title: text({ required: true }),
    state: text({ default: 'open' }),
    rank: integer(),
    author: text(),
  },
} as const

/** A tracker with paging, two filters, two orders and a loose search. */
export interface Tracker extends LocalServer {
  readonly issues: Map<number, Issue>
  /** The largest page that the tracker returns. */
  maximum: number
  /** Replaces the tracker's own responses. Returns whether it has responded. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
}

/** Starts a tracker, which is stopped after the test. */
export async function startTracker(given: readonly Issue[] = []): Promise<Tracker> {
  const issues = new Map(given.map((issue) => [issue.number, issue]))
  const tracker = { issues, maximum: 50, instead: undefined } as unknown as Tracker
  const server = await startServer((request, response) => {
    if (tracker.instead?.(request, response) !== true) void answer(tracker, request, response)
  })
  onTestFinished(() => server.close())
  return Object.assign(tracker, server)
}

async function answer(
  { issues, maximum }: Tracker,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  const id = pathname.split('/')[2]
  if (request.method === 'GET' && id === undefined) {
    respondPage(select(issues, searchParams), { searchParams, maximum }, response)
    return
  }
  const number = id === undefined ? Math.max(0, ...issues.keys()) + 1 : Number(id)
  const before = issues.get(number)
  if (id !== undefined && before === undefined) respond(response, { error: 'not here' }, 404)
  else if (request.method === 'GET') respond(response, before)
  else if (request.method === 'DELETE') {
    issues.delete(number)
    response.writeHead(204).end()
  } else {
    const sent = (await readJson(request)) as Partial<Issue>
    const after = { state: 'open', rank: null, author: { login: null }, ...before, ...sent, number }
    issues.set(number, after as Issue)
    respond(response, after, before === undefined ? 201 : 200)
  }
}

function select(issues: Map<number, Issue>, query: URLSearchParams): readonly Issue[] {
  const [state, author, q] = [query.get('state'), query.get('author'), query.get('q')]
  const found = [...issues.values()]
    .filter((issue) => state === null || issue.state === state)
    // Ignores case, unlike a condition.
    .filter(({ author: { login } }) => author === null || lower(login) === lower(author))
    .filter((issue) => q === null || JSON.stringify(issue).toLowerCase().includes(q))
  const order = query.get('order') ?? ''
  if (order === 'number' || order === 'rank')
    found.sort(
      (one, other) => (one[order] ?? -1) - (other[order] ?? -1) || one.number - other.number,
    )
  if (order === '-number') found.sort((one, other) => other.number - one.number)
  return found
}

function lower(text: string | null): string | undefined {
  return text?.toLowerCase()
}

function respondPage(
  found: readonly Issue[],
  { searchParams, maximum }: { readonly searchParams: URLSearchParams; readonly maximum: number },
  response: ServerResponse,
): void {
  const number = (name: string, otherwise: number): number =>
    Number(searchParams.get(name) ?? otherwise)
  const size = Math.min(maximum, number('limit', 20))
  const at = searchParams.has('page')
    ? (number('page', 1) - 1) * size
    : number('offset', number('after', 0))
  const next = at + size < found.length ? at + size : null
  const linked = new URLSearchParams(searchParams)
  linked.set('after', String(next))
  const headers = next === null ? {} : { link: `</issues?${linked.toString()}>; rel="next"` }
  const page = { data: found.slice(at, at + size), meta: { total: found.length, next } }
  respond(response, page, 200, headers)
}

/** The ways in which the tracker's pages can be requested. */
export const pagings: readonly Paging[] = [
  { kind: 'offset', parameter: 'offset' },
  { kind: 'page', parameter: 'page' },
  { kind: 'cursor', parameter: 'after', next: 'meta/next' },
  { kind: 'link' },
]

/** Returns the endpoints of a tracker. */
export function endpointsOf(
  { url }: Pick<Tracker, 'url'>,
  options: { readonly timeout?: number } = {},
) {
  const tracker = connection({
    baseUrl: url,
    allowHttp: true,
    allowPrivateAddresses: true,
    attempts: 1,
    ...options,
  })
  const query = {
    limit: 'integer',
    offset: 'integer',
    page: 'integer',
    after: 'integer',
    order: 'string',
    state: { type: 'string', values: ['open', 'done'] },
    author: 'string',
    q: 'string',
  } as const
  const path = '/issues/{number}'
  const parameters = { number: 'integer' } as const
  const body = typed<unknown>()
  return {
    list: endpoint(tracker, { name: 'list-issues', path: '/issues', query }),
    get: endpoint(tracker, { name: 'get-issue', path, parameters }),
    insert: endpoint(tracker, { name: 'create-issue', method: 'POST', path: '/issues', body }),
    update: endpoint(tracker, { name: 'update-issue', method: 'PATCH', path, parameters, body }),
    delete: endpoint(tracker, { name: 'delete-issue', method: 'DELETE', path, parameters }),
  }
}
