import { describe, expect, test } from 'vitest'
import {
  createService,
  system,
  type ApplicationDefinition,
  type ApplicationDefinitions,
  type Envelope,
  type Observation,
  type PublishedCollection,
  type Row,
  type Service,
  type ServiceOptions,
  type StorageAdapter,
} from '../../src/index.ts'
import { storages } from '../contract/matrix.ts'
import { visitors, type Headers } from './visitors.ts'

/** An answer as a consumer sees it. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Envelope<Record<string, unknown>>
}

type Options = Partial<ServiceOptions<ApplicationDefinitions>>

/** A service with the application `app`, whose callers say who they are. */
export interface Stage {
  readonly service: Service<ApplicationDefinitions>
  /** Paths are relative to the application. Every answer but 200 must leave the rows as they are. */
  ask(who: Headers, method: string, path: string, body?: unknown): Promise<Answer>
  /** Stores items with every right. */
  plant(collection: string, items: readonly Readonly<Record<string, unknown>>[]): Promise<void>
  /** The stored rows of a collection, read behind the service's back. */
  rows(collection: string): Promise<readonly Row[]>
  /** What was reported since the last call. */
  reports(): readonly Observation[]
}

type Open = (application: ApplicationDefinition, options?: Options) => Stage

/** Registers cases that are run on every storage. Each opens services, which are closed after it. */
export function describeRights(
  title: string,
  register: (on: (name: string, run: (open: Open) => Promise<void>) => void) => void,
): void {
  for (const storage of storages) {
    describe(`${title} on ${storage.name}`, () => {
      register((name, run) => test(name, () => withStages(storage.open, run)))
    })
  }
}

/** Opens services for one case, and closes them after it. */
export async function withStages(
  open: () => { readonly storage: StorageAdapter; readonly remove: () => void },
  run: (open: Open) => Promise<void>,
): Promise<void> {
  const ends: (() => Promise<void>)[] = []
  try {
    await run((application, options) => {
      const { storage, remove } = open()
      const stage = openStage(storage, application, options)
      ends.push(async () => {
        await stage.service.close()
        remove()
        expect(stage.reports()).toEqual([])
      })
      return stage
    })
  } finally {
    for (const end of ends) await end()
  }
}

function openStage(
  storage: StorageAdapter,
  application: ApplicationDefinition,
  options: Options = {},
): Stage {
  const observed: Observation[] = []
  let collections: readonly PublishedCollection[] = []
  const service = createService({
    applications: { app: application },
    security: visitors,
    // These cases make requests that lack a right; what they may not make is a failure.
    report: (observation) => {
      if (observation.type !== 'forbidden') observed.push(observation)
    },
    storage: {
      ...storage,
      open: (published) => {
        collections = published
        return storage.open(published)
      },
    },
    ...options,
  })
  const rows = async (name: string): Promise<readonly Row[]> => {
    await service.ready()
    const collection = collections.find((one) => one.name === name)
    if (collection === undefined) throw new Error(`no ${name}`)
    const sort = collection.tieBreakers.map((field) => ({ field: field.name, descending: false }))
    const query = { conditions: [], search: null, sort, limit: 1000, offset: 0, count: false }
    return (await storage.filter(collection, { ...query, select: collection.allNames })).rows
  }
  const everything = () => Promise.all(Object.keys(application.collections).map(rows))
  return {
    service,
    ask: async (who, method, path, body) => {
      const before = await everything()
      const answer = await call(service, { who, method, path, body })
      if (answer.status !== 200) expect(await everything()).toEqual(before)
      return answer
    },
    plant: async (name, items) => {
      const access = service.as(system).collection('app', name)
      for (const item of items) {
        const result = await access.insert(item as never, { ignoreWarnings: 'all' })
        if (result.rejected) throw new Error(JSON.stringify(result))
      }
    },
    rows,
    reports: () => observed.splice(0),
  }
}

/** A request to the application `app`. A body that is no text is sent as JSON. */
export interface Asked {
  readonly who: Headers
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** Sends a request without a socket. */
export async function call(
  service: Service<ApplicationDefinitions>,
  { who, method, path, body }: Asked,
): Promise<Answer> {
  const headers: Headers = { 'content-type': 'application/json', ...who }
  const sent = typeof body === 'string' ? body : JSON.stringify(body ?? {})
  const reply = await service.handle({
    method,
    target: `/rest/v1/app${path}`,
    header: (name) => headers[name],
    secure: false,
    peer: undefined,
    signal: undefined,
    body: async (limit) => {
      const bytes = new TextEncoder().encode(sent)
      if (bytes.length > limit) throw new Error('The body was read beyond its limit.')
      return bytes
    },
  })
  const { status, headers: replied, body: text } = reply
  return { status, headers: replied, text, body: JSON.parse(text) as Answer['body'] }
}

/** What has to be equal when two answers must not be told apart. */
export function bytesOf({ status, headers, text }: Answer): string {
  return JSON.stringify([status, headers, text])
}

/** Checks the one answer for a caller who lacks the right. */
export function expectForbidden(answer: Answer): void {
  expect(answer.text).toBe(
    '{"message":"You do not have the right to do this.","validations":[],"status":403}',
  )
  expect(answer.status).toBe(403)
}

/** Checks a success and returns its item. */
export function itemIn(answer: Answer): Readonly<Record<string, unknown>> {
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.item).toBeDefined()
  return answer.body.item ?? {}
}

/** Checks a success and returns the values of one field of its page. */
export function valuesIn(answer: Answer, field = 'id'): readonly unknown[] {
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.items).toBeDefined()
  return (answer.body.items ?? []).map((item) => item[field])
}
