import { defineCollection, increment, integer, text } from '../../src/entries/index.ts'
import { createOutbox, type Outbox } from '../../src/entries/consume.ts'
import { createDeployment, type Deployment } from '../../src/entries/deployment.ts'
import { pause, runtime } from '../../src/runtime.ts'

/** What the code of the application reports to the simulation. */
export interface Observer {
  /** Called when an entry is enqueued for delivery. */
  enqueues(nonce: string, lane: string): void
  /** Called when a delivery is sent. Returns the milliseconds that it takes. Throws if it fails. */
  delivers(nonce: string, lane: string): number
  delivered(nonce: string, lane: string): void
  /** Called when a release is built. Returns the milliseconds that it takes. */
  builds(releaseId: string): number
  /** Called when the build has ended, or was stopped. */
  built(releaseId: string): void
}

/** The application of one process, and its parts. */
export interface Program {
  readonly applications: ReturnType<typeof bank>
  readonly outbox: Outbox
  readonly deployment: Deployment
}

/** The milliseconds after which a worker that does not respond is lost. */
export const lease = 3_000

/** The work that processes do, and that waits for them. */
export interface Loads {
  /** How many deliveries and builds a process runs at a time. */
  readonly workers: number
  /** How many releases may be queued. */
  readonly queueLimit: number
}

/** Creates what one process serves. */
export function program(observer: Observer, { workers, queueLimit }: Loads): Program {
  const outbox = createOutbox({
    endpoints: {
      tell: {
        deliver: async ({ nonce, lane }: { readonly nonce: string; readonly lane: string }) => {
          await pause(observer.delivers(nonce, lane))
          observer.delivered(nonce, lane)
        },
      },
    },
    ...{ lease, callTimeout: lease / 2, pollInterval: 400, attempts: 100, maxLost: 100, workers },
    backOff: { first: 100, max: 2_000 },
  })
  const applications = bank(observer, outbox)
  const deployment = createDeployment({
    solutions: [{ solutionId: 's', name: 'S', version: '1', applications: {} }],
    environment: { environmentId: 'e', name: 'E', url: 'https://example.com' },
    builder: {
      name: 'simulated',
      build: async ({ releaseId }, signal) => {
        const end = runtime.performanceNow() + observer.builds(releaseId)
        while (runtime.performanceNow() < end && !signal.aborted) await pause(100)
        observer.built(releaseId)
        return { fileName: 'release.zip', bytes: new TextEncoder().encode(releaseId) }
      },
    },
    ...{ lease, pollInterval: 500, serial: true, idempotencyKeys: true, attempts: 100 },
    ...{ workers, queueLimit },
  })
  return { applications, outbox, deployment }
}

function bank(observer: Observer, outbox: ReturnType<typeof createOutbox>) {
  const notes = defineCollection(
    {
      key: 'noteId',
      cursor: true,
      concurrency: { ifMatch: 'optional' },
      fields: {
        noteId: text({ maxLength: 40 }),
        owner: text({ required: true, maxLength: 20 }),
        words: text({ maxLength: 100 }),
        version: integer({ required: true }),
      },
      unique: [['owner', 'words']],
    },
    { rows: { equal: { owner: { principal: 'user' } }, exceptRoles: ['Auditor'] } },
  )
  // Without cursors, callers with the same rows share cached responses.
  const mine = defineCollection(
    {
      key: 'noteId',
      table: 'notes',
      publishes: ['Filter'],
      fields: {
        noteId: text({ maxLength: 40 }),
        owner: text({ required: true, maxLength: 20 }),
        words: text({ maxLength: 100 }),
      },
    },
    { rows: { equal: { owner: { principal: 'user' } } } },
  )
  const totals = defineCollection({
    key: 'lane',
    publishes: ['Filter'],
    fields: { lane: text({ maxLength: 10 }), count: integer({ required: true }) },
  })
  const entries = defineCollection(
    {
      key: 'entryId',
      fields: {
        entryId: integer({ generated: 'database' }),
        lane: text({ required: true, maxLength: 10 }),
        nonce: text({ required: true, maxLength: 60 }),
      },
    },
    {
      events: {
        Insert: {
          after: async (event) => {
            const { lane, nonce } = event.item
            await event.system.collection(totals).update(lane, { count: increment(1) })
            observer.enqueues(nonce, lane)
            await (outbox as unknown as Outbox).enqueue(
              event,
              'tell' as never,
              { nonce, lane } as never,
              { lane },
            )
          },
        },
      },
    },
  )
  // With a handler, its items are read first, and updates of one item wait for each other.
  const gauges = defineCollection(
    {
      key: 'gaugeId',
      concurrency: { ifMatch: 'required' },
      fields: { gaugeId: text({ maxLength: 10 }), value: integer({ required: true }) },
    },
    { events: { Update: { before: () => undefined } } },
  )
  // No code of the application is called, so that the service may repeat a transaction.
  const marks = defineCollection({
    key: 'markId',
    fields: {
      markId: integer({ generated: 'database' }),
      nonce: text({ required: true, maxLength: 60 }),
    },
  })
  const reports = defineCollection({
    key: 'reportId',
    roles: ['Reader'],
    fields: { reportId: text({ maxLength: 10 }), words: text() },
  })
  return {
    bank: {
      collections: { notes, mine, totals, entries, gauges, marks, reports },
      idempotencyKeys: true,
    },
  }
}
