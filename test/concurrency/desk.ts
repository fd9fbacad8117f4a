import { onTestFinished } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  json,
  text,
  decimal,
  type ApplicationDefinition,
  type ApplicationDefinitions,
  type RequestHandler,
  type Service,
  type ServiceOptions,
} from '../../src/entries/index.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { openStorage, storages, type Storage } from '../kit/storages.ts'
import { visitors } from '../kit/visitors.ts'

/** Every storage that runs. `npm run test:matrix` has the servers in both lists. */
export const everywhere = [...new Set([...storages, ...serverStorages])]

const fields = {
  id: integer(),
  owner: text({ default: 'maria' }),
  title: text({ maxLength: 20 }),
  price: decimal({ precision: 10, scale: 2 }),
  data: json(),
  secret: text({ readableBy: ['Chief'], writableBy: ['Chief'] }),
}

/** A collection without conditional requests, and one each in which `If-Match` is optional and required. */
export const collections = {
  plain: defineCollection({ key: 'id', fields }),
  notes: defineCollection({
    key: 'id',
    fields,
    concurrency: { ifMatch: 'optional' },
    rows: { equal: { owner: { principal: 'user' } }, exceptRoles: ['Chief'] },
  }),
  strict: defineCollection({ key: 'id', fields, concurrency: { ifMatch: 'required' } }),
}

/** A response. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly etag: string | undefined
  readonly item: Readonly<Record<string, unknown>> | undefined
  readonly message: string | null | undefined
}

/** A request to the application `app`. */
export interface Sent {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'HEAD'
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Sends a request to a service without a socket. */
export async function send(
  service: Pick<RequestHandler, 'handle'>,
  { method, path, body, headers = {} }: Sent,
): Promise<Reply> {
  const given = new Headers({ 'content-type': 'application/json', 'x-user': 'maria', ...headers })
  const content = typeof body === 'string' ? body : JSON.stringify(body ?? {})
  const reply = await service.handle({
    method,
    target: `/rest/v1/app${path}`,
    header: (name) => given.get(name) ?? undefined,
    secure: false,
    peer: undefined,
    signal: undefined,
    body: () => Promise.resolve(new TextEncoder().encode(content)),
  })
  return replyOf(reply.status, reply.headers, reply.body)
}

/** Returns a response as tests look at it. */
export function replyOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  content: string,
): Reply {
  const { item, message } = (content === '' ? {} : JSON.parse(content)) as Partial<Reply>
  const etag = headers['ETag'] ?? headers['etag']
  return { status, headers, text: content, etag, item, message }
}

/** What tests send to a service. */
export interface Desk {
  readonly service: Service<ApplicationDefinitions>
  readonly get: (path: string, headers?: Sent['headers']) => Promise<Reply>
  readonly post: (path: string, body: unknown, headers?: Sent['headers']) => Promise<Reply>
  readonly remove: (path: string, headers?: Sent['headers']) => Promise<Reply>
}

type Options = Partial<ServiceOptions<ApplicationDefinitions>>

/** Opens a service. The caller is `maria` unless the headers name another one. */
export function openDesk(
  on: Storage,
  given: ApplicationDefinition['collections'] = collections,
  options: Options = {},
): Desk {
  const service = createService({
    applications: { app: { collections: given } },
    security: visitors,
    storage: openStorage(on),
    ...options,
  })
  onTestFinished(() => service.close())
  return {
    service,
    get: (path, headers) => send(service, { method: 'GET', path, headers }),
    post: (path, body, headers) => send(service, { method: 'POST', path, body, headers }),
    remove: (path, headers) => send(service, { method: 'DELETE', path, headers }),
  }
}
