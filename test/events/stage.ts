import { describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  text,
  type ApplicationDefinitions,
  type CollectionBehaviour,
  type CollectionDefinition,
  type CollectionShape,
  type Envelope,
  type Observation,
  type Row,
  type Service,
  type ServiceOptions,
  type StorageAdapter,
} from '../../src/index.ts'
import { storages } from '../contract/matrix.ts'

/** A collection of tasks, as most cases need it. */
export const taskFields = {
  id: integer(),
  title: text({ maxLength: 20, required: true }),
  state: text({ readOnly: true, default: 'new' }),
  size: integer(),
} as const

/** The shape of {@link taskFields}. */
export interface TaskShape {
  readonly fields: typeof taskFields
  readonly key: 'id'
}

/** Tasks with rules and handlers. */
export function tasks(behaviour: CollectionBehaviour<TaskShape> = {}): CollectionDefinition {
  const data = { key: 'id', fields: { ...taskFields } } as const
  return defineCollection(data, behaviour)
}

/** A log that handlers write to. */
export const log = defineCollection({ key: 'id', fields: { id: integer(), line: text() } })

/** An answer of the service. */
export interface StageAnswer {
  readonly status: number
  readonly body: Envelope<Record<string, unknown>>
}

/** A service with the application `app`, and everything that a case looks at. */
export interface Stage {
  readonly service: Service<ApplicationDefinitions>
  /** Sends a request without a socket. The path is relative to the application. */
  ask(method: string, path: string, body?: unknown, ignored?: string): Promise<StageAnswer>
  /** The stored rows of a collection, read behind the service's back. */
  rows(collection: string): Promise<readonly Row[]>
  /** What was reported since the last call. */
  reports(): readonly Observation[]
}

type Open = (
  collections: Readonly<Record<string, CollectionDefinition>>,
  options?: Partial<ServiceOptions<ApplicationDefinitions>>,
) => Stage

/** Registers cases that are run on every storage. Each opens services, which are closed after it. */
export function describeOnStorages(
  title: string,
  register: (on: (name: string, run: (open: Open) => Promise<void>) => void) => void,
): void {
  for (const storage of storages)
    describe(`${title} on ${storage.name}`, () => {
      register((name, run) => {
        test(name, async () => {
          const ends: (() => Promise<void>)[] = []
          try {
            await run((collections, options) => {
              const { storage: adapter, remove } = storage.open()
              const stage = openStage(adapter, collections, options)
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
        })
      })
    })
}

function openStage(
  storage: StorageAdapter,
  collections: Readonly<Record<string, CollectionDefinition>>,
  options: Partial<ServiceOptions<ApplicationDefinitions>> = {},
): Stage {
  const observed: Observation[] = []
  let read: Stage['rows'] = () => Promise.resolve([])
  const service = createService({
    applications: { app: { collections } },
    security: openAccess(),
    report: (observation) => observed.push(observation),
    storage: {
      ...storage,
      open: (published) => {
        read = async (name) => {
          const collection = published.find((one) => one.name === name)
          if (collection === undefined) throw new Error(`no ${name}`)
          const sort = collection.tieBreakers.map((field) => ({
            field: field.name,
            descending: false,
          }))
          const query = { conditions: [], search: null, sort, limit: 1000, offset: 0, count: false }
          return (await storage.filter(collection, { ...query, select: collection.allNames })).rows
        }
        return storage.open(published)
      },
    },
    ...options,
  })
  return {
    service,
    ask: async (method, path, body, ignored) => {
      const { status, body: answer } = await service.handle({
        method,
        target: `/rest/v1/app${path}`,
        header: (name) =>
          ({ 'content-type': 'application/json', 'x-svc-ignore-warnings': ignored })[name],
        secure: false,
        peer: undefined,
        signal: undefined,
        body: async () => new TextEncoder().encode(JSON.stringify(body)),
      })
      return { status, body: JSON.parse(answer) as StageAnswer['body'] }
    },
    rows: (collection) => read(collection),
    reports: () => observed.splice(0),
  }
}

/** A definition whose types do not matter to a case. */
export function loose(definition: CollectionShape): CollectionDefinition {
  return definition
}

/** Waits until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  for (let round = 0; round < 200 && !holds(); round++) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect(holds()).toBe(true)
}

/** Checks that an Insert answers 500 with the fixed text, and stores nothing. */
export async function expectFault(stage: Stage): Promise<void> {
  const { status, body } = await stage.ask('POST', '/tasks', { id: 1, title: 'one' })
  expect(status).toBe(500)
  expect(body).toEqual({
    message: 'The request could not be served because of an internal error.',
    validations: [],
    status: 500,
  })
  expect(await stage.rows('tasks')).toEqual([])
}
