import { Agent } from 'node:http'
import {
  anonymous,
  createService,
  decimal,
  defineCollection,
  integer,
  json,
  memoryStorage,
  openAccess,
  text,
  type Observation,
  type ServiceOptions,
} from '../../src/entries/index.ts'
import { send, type Answer, type Request } from '../kit/http-client.ts'

// Every field may be absent: an item of nothing at all could be inserted.
const notes = defineCollection({
  key: 'noteId',
  fields: {
    noteId: integer({ generated: 'database', readOnly: true }),
    title: text({ maxLength: 40 }),
    price: decimal({ precision: 8, scale: 2 }),
    extra: json(),
  },
})

const names = defineCollection({ key: 'name', fields: { name: text() } })

const applications = { desk: { collections: { notes, names } } }

/** A service, what it reported, and what it stored. */
export function noteService(options: Partial<ServiceOptions<typeof applications>> = {}) {
  const reports: Observation[] = []
  const service = createService({
    applications,
    storage: memoryStorage(),
    security: openAccess(),
    report: (observation) => void reports.push(observation),
    ...options,
  })
  const notesInside = service.as(anonymous).collection('desk', 'notes')
  return { service, reports, stored: async () => (await notesInside.filter()).items }
}

/** The collection that requests are sent to. */
export const notesPath = '/rest/v1/desk/notes'

const agent = new Agent({ keepAlive: true })

/** Sends a GET with exactly this target. */
export function get(port: number, target: string, more: Partial<Request> = {}): Promise<Answer> {
  return send(port, agent, { method: 'GET', target, ...more })
}

/** Sends a body of JSON. */
export function post(port: number, target: string, body: string | Uint8Array): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json' }
  return send(port, agent, { method: 'POST', target, headers, body })
}
