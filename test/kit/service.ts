import { expect } from 'vitest'
import {
  createService,
  openAccess,
  type ApplicationDefinition,
  type ApplicationDefinitions,
  type Envelope,
  type Observation,
  type RequestHandler,
  type Service,
  type ServiceOptions,
} from '../../src/entries/index.ts'
import type { Row } from '../../src/entries/storage.ts'
import { cacheOption, repeatingReads } from './cache.ts'
import { inspected, type Storage } from './storages.ts'

/** The options of a service under test. */
export type TestOptions = Partial<ServiceOptions<ApplicationDefinitions>> & {
  /** A kind of reports that the test expects and does not read. */
  readonly ignoredReport?: Observation['type']
}

/** A service with the application `app`, and what a test looks at. */
export interface TestService {
  readonly service: Service<ApplicationDefinitions>
  /** Reads all rows of a collection without the service. Waits until the service is ready. */
  rows(collection: string): Promise<readonly Row[]>
  /** The reports since the last call. */
  reports(): readonly Observation[]
}

/** Opens a service under test, which is closed after the test. */
export type OpenTestService = (
  application: ApplicationDefinition,
  options?: TestOptions,
) => TestService

/** Opens services on a storage for one test, and closes them after it. None may leave a report unread. */
export async function withServices(
  storage: Pick<Storage, 'open'>,
  run: (open: OpenTestService) => Promise<void>,
): Promise<void> {
  const ends: (() => Promise<void>)[] = []
  try {
    await run((application, { ignoredReport, ...options } = {}) => {
      const { storage: adapter, remove } = storage.open()
      const observed: Observation[] = []
      const inspection = inspected(adapter)
      const service = createService({
        applications: { app: application },
        security: openAccess(),
        report: (observation) => {
          if (observation.type !== ignoredReport) observed.push(observation)
        },
        storage: inspection.storage,
        ...cacheOption,
        ...options,
      })
      const reports = (): readonly Observation[] => observed.splice(0)
      ends.push(async () => {
        await service.close()
        await remove()
        expect(reports()).toEqual([])
      })
      const rows = async (name: string): Promise<readonly Row[]> => {
        await service.ready()
        return inspection.rows(name)
      }
      return { service, rows, reports }
    })
  } finally {
    for (const end of ends) await end()
  }
}

/** The headers of a request, by lower-case name. */
export type RequestHeaders = Readonly<Record<string, string | undefined>>

/** A response as the client receives it. */
export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly body: Envelope<Record<string, unknown>>
}

/** A request to the application `app`. A body that is not a string is sent as JSON. */
export interface Request {
  readonly method: string
  /** The part of the target after the application. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: RequestHeaders
}

/** Sends a request to a service without a socket. */
export async function send(
  service: Pick<RequestHandler, 'handle'>,
  { method, path, body = {}, headers }: Request,
): Promise<Response> {
  const sent: RequestHeaders = { 'content-type': 'application/json', ...headers }
  const bytes = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
  const reply = await repeatingReads(service).handle({
    method,
    target: `/rest/v1/app${path}`,
    header: (name) => sent[name],
    secure: false,
    peer: undefined,
    signal: undefined,
    body: async (limit) => {
      if (bytes.length > limit) throw new Error('The body was read beyond its limit.')
      return bytes
    },
  })
  const { status, headers: replied, body: text } = reply
  return { status, headers: replied, text, body: JSON.parse(text) as Response['body'] }
}

/** Waits up to a second until something is true. */
export async function until(isTrue: () => boolean): Promise<void> {
  for (let round = 0; round < 200 && !isTrue(); round++) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect(isTrue()).toBe(true)
}
