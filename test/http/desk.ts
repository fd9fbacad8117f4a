import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  text,
  type Observation,
  type ServiceOptions,
} from '../../src/entries/index.ts'

const notes = defineCollection({ key: 'noteId', fields: { noteId: integer(), words: text() } })
const applications = { desk: { collections: { notes } } }

/** The path of the collection of a desk. */
export const path = '/rest/v1/desk/notes'

/** The address of the collection, where no socket is needed. */
export const address = `http://localhost${path}`

/** The headers of a body. */
export const json = { 'Content-Type': 'application/json' }

/** A service with notes, and what it reports. */
export function openDesk(options: Partial<ServiceOptions<typeof applications>> = {}) {
  const observed: Observation[] = []
  const service = createService({
    applications,
    storage: memoryStorage(),
    security: openAccess(),
    report: (observation) => observed.push(observation),
    ...options,
  })
  /** The texts of the errors that were reported since the last call. */
  const errors = (): readonly string[] =>
    observed.splice(0).map((one) => ('error' in one ? String(one.error) : one.type))
  return { service, errors }
}

/** A request that inserts a note. */
export function insertion(body: string | ReadableStream, init: RequestInit = {}): Request {
  return new Request(address, { method: 'POST', headers: json, body, duplex: 'half', ...init })
}

/** A stream that counts its reads and records whether it was cancelled. */
export function watchedStream(chunks: readonly unknown[]) {
  const seen = { taken: 0, cancelled: false }
  const stream = new ReadableStream(
    {
      pull: (controller) => {
        if (seen.taken < chunks.length) controller.enqueue(chunks[seen.taken++])
        else controller.close()
      },
      cancel: () => void (seen.cancelled = true),
    },
    { highWaterMark: 0 },
  )
  return { seen, stream }
}

/** A text in UTF-8. */
export function bytes(content: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(content)
}
