import type { ServiceReply, ServiceRequest } from '../../src/request/request.ts'
import type { Process } from './machine.ts'
import { handle } from './machine.ts'
import type { Owner, Scheduler } from './scheduler.ts'
import { promise } from './violation.ts'

/** A request of a client. */
export interface ClientRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** After `/rest/v1`. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** What a client receives. The status is 0 if it has received nothing. */
export interface ClientReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  /** The time at which the request arrived at the process; undefined if it has not. */
  readonly arrivedAt: number | undefined
  /** What the wall clock of the process showed meanwhile, first and last; undefined if it was changed. */
  readonly clocks: readonly [number, number] | undefined
}

const nothing: Omit<ClientReply, 'arrivedAt' | 'clocks'> = { status: 0, headers: {}, body: {} }

/** Sends a request of a client to a process, over a network that takes time. Gives up after a time of the client. */
export function send(
  scheduler: Scheduler,
  client: Owner,
  process: Process | undefined,
  request: ClientRequest,
): Promise<ClientReply> {
  const { random } = client
  let arrivedAt: number | undefined
  return new Promise((resolve) => {
    const patience = random.chance(0.1) ? 50 + 500 * random.next() : 30_000
    const late = scheduler.after(patience, client, 'gives up', () => {
      resolve({ ...nothing, arrivedAt, clocks: undefined })
    })
    if (process === undefined) return
    const what = `receives ${request.method} ${request.path}`
    scheduler.after(0.1 + random.next(), process.owner, what, () => {
      const since = scheduler.time
      arrivedAt = since
      const first = scheduler.wallClock(process.owner)
      handle(process, serviceRequest(request), since, (reply) => {
        const isSteady = process.owner.clockChangedAt < since
        const last = scheduler.wallClock(process.owner)
        const clocks = isSteady ? ([first, last] as const) : undefined
        const latency = 0.1 + random.next()
        scheduler.after(latency, client, `receives ${reply.status}`, () => {
          scheduler.cancel(late)
          resolve({ ...readReply(reply), arrivedAt, clocks })
        })
      })
    })
  })
}

function readReply({
  status,
  headers,
  body,
}: ServiceReply): Omit<ClientReply, 'arrivedAt' | 'clocks'> {
  promise(status !== 500, 'A request responds 500.', body)
  return { status, headers, body: body === '' ? {} : (JSON.parse(body) as ClientReply['body']) }
}

function serviceRequest({ method, path, body, headers = {} }: ClientRequest): ServiceRequest {
  const bytes = new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body))
  const all: Readonly<Record<string, string>> = {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  }
  return {
    method,
    target: `/rest/v1${path}`,
    header: (name) => all[name],
    secure: true,
    peer: '192.0.2.1',
    body: async () => bytes,
    signal: undefined,
  }
}
