import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { defineCollection, integer, text } from '../../src/entries/index.ts'
import { StorageError } from '../../src/entries/storage.ts'
import { openServer } from '../kit/server.ts'

/** A ticket as the other system has it. */
export interface Ticket {
  readonly number: number
  readonly subject: string
  readonly state: string
}

/** A ticket system that speaks JSON over HTTP, with paging, one filter and one order. */
export interface TicketSystem {
  readonly url: string
  readonly tickets: Map<number, Ticket>
  /** The requests that it has received, such as `GET /tickets?state=open`. */
  readonly requests: string[]
}

/** Starts a ticket system, which is stopped after the test. */
export async function startTicketSystem(): Promise<TicketSystem> {
  const tickets = new Map<number, Ticket>()
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    void respond(tickets, request, response)
  })
  const { url, close } = await openServer(server)
  onTestFinished(close)
  return { url, tickets, requests }
}

async function respond(
  tickets: Map<number, Ticket>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
  const [, , id] = pathname.split('/')
  const number = Number(id)
  const send = (status: number, body?: unknown): void => {
    response.writeHead(status, status === 503 ? { 'Retry-After': '7' } : {})
    response.end(body === undefined ? undefined : JSON.stringify(body))
  }
  if (request.method === 'GET' && id === undefined) {
    const state = searchParams.get('state')
    const found = [...tickets.values()]
      .filter((ticket) => state === null || ticket.state === state)
      .sort((one, other) => one.number - other.number)
    const skip = Number(searchParams.get('skip') ?? 0)
    const take = Number(searchParams.get('take') ?? found.length)
    send(200, { total: found.length, tickets: found.slice(skip, skip + take) })
    return
  }
  if (request.method !== 'POST' && !tickets.has(number)) {
    send(404)
    return
  }
  let text = ''
  for await (const chunk of request) text += String(chunk)
  const body = (text === '' ? {} : JSON.parse(text)) as Partial<Ticket>
  if (body.subject === 'busy') send(503)
  else if (request.method === 'GET') send(200, tickets.get(number))
  else if (request.method === 'DELETE') {
    tickets.delete(number)
    send(204)
  } else if ([...tickets.values()].some(({ subject }) => subject === body.subject)) send(409)
  else {
    const next = request.method === 'POST' ? tickets.size + 100 : number
    const before = tickets.get(number) ?? { state: 'open' }
    const ticket = { ...before, ...body, number: next } as Ticket
    tickets.set(next, ticket)
    send(200, ticket)
  }
}

/** A collection that passes everything on to a ticket system. Pages are passed on if it can make them. */
export function ticketGateway(url: () => string) {
  async function ask(
    method: string,
    path: string,
    signal: AbortSignal,
    body?: object,
  ): Promise<unknown> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${url()}/tickets${path}`, { method, signal, ...sent })
    if (response.status === 404) return undefined
    if (response.status === 409) throw new StorageError('duplicate', { fields: ['subject'] })
    if (response.status === 503) {
      const retryAfter = Number(response.headers.get('Retry-After'))
      throw new StorageError('unavailable', { retryAfter })
    }
    return response.status === 204 ? true : response.json()
  }
  return defineCollection(
    {
      key: 'number',
      fields: {
        number: integer({ readOnly: true }),
        subject: text({ required: true, maxLength: 40 }),
        state: text({ enumeration: ['open', 'done'], default: 'open' }),
      },
    },
    {
      serve: {
        filter: async ({ conditions, search, sort, limit, offset, signal }) => {
          const { state, ...others } = conditions
          const query = new URLSearchParams(typeof state === 'string' ? { state } : {})
          const [first] = sort
          const canPage =
            state !== null &&
            Object.keys(others).length === 0 &&
            search === undefined &&
            first?.field === 'number' &&
            !first.descending
          if (canPage && limit !== undefined) {
            query.set('skip', String(offset))
            query.set('take', String(limit))
          }
          const page = (await ask('GET', `?${query.toString()}`, signal)) as {
            readonly total: number
            readonly tickets: readonly (Ticket & { readonly state: 'open' | 'done' })[]
          }
          return canPage ? { page: page.tickets, count: page.total } : page.tickets
        },
        get: async ({ key, signal }) => (await ask('GET', `/${key}`, signal)) as never,
        insert: async ({ item, signal }) => (await ask('POST', '', signal, item)) as never,
        update: async ({ key, changes, signal }) =>
          (await ask('PUT', `/${key}`, signal, changes)) as never,
        delete: async ({ key, signal }) => (await ask('DELETE', `/${key}`, signal)) !== undefined,
      },
    },
  )
}
