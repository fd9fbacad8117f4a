import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createService, openAccess, readApplications, type Observation } from 'rowgate'
import { expect, onTestFinished } from 'vitest'
import type { ApplicationDefinitions } from '../../src/definition/application.ts'
import type { CollectionDefinition } from '../../src/definition/collection.ts'
import { createTestClient, type TestClient } from '../../src/entries/testing.ts'
import { sqliteStorage, type SqliteOptions } from '../../src/entries/sqlite.ts'
import { runAlone } from '../cli/command-line.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { nothingToDo, type DatabasePlace, type EmptyDatabase } from './empty-databases.ts'
import type { Item } from './published-rows.ts'

/** A database that is published with the definition of `rowgate introspect`. */
export interface Published {
  readonly definition: ApplicationDefinitions
  readonly collections: Readonly<Record<string, CollectionDefinition>>
  /** What introspection wrote to standard error. */
  readonly messages: string
  /** The notes of introspection. */
  readonly notes: readonly string[]
  readonly service: ReturnType<typeof createService>
  /** What the service has reported. */
  readonly reports: readonly Observation[]
  /** Sends requests to the application by its name. */
  readonly client: TestClient
  /** Sends a request to a path of the application. */
  send(method: string, path: string, values?: unknown): Promise<Reply>
  /** Expects that the database has what its definition needs. */
  expectNothingToDo(): Promise<void>
}

/** The status and the body of a response. */
export interface Reply {
  readonly status: number
  readonly items: readonly Item[]
  readonly item: Item | null
  readonly count: number | null
  readonly validations: readonly { readonly field: string | null; readonly message: string }[]
}

/** Runs `rowgate introspect`, and serves what it has written into the folder. */
export async function publish(
  { line: [place, ...options], storage }: DatabasePlace,
  application = 'app',
  workingFolder = temporaryFolder(),
): Promise<Published> {
  const out = `${application}.json`
  const run = (...line: readonly string[]) => runAlone(line, { workingFolder })
  const line = [place, ...options, '--application', application, '--out', out]
  const { code, messages } = await run('introspect', ...line)
  expect({ code, messages }).toEqual({ code: 0, messages: expect.any(String) as string })
  const text = readFileSync(join(workingFolder, out), 'utf8')
  const definition = readApplications(JSON.parse(text) as ApplicationDefinitions)
  const reports: Observation[] = []
  const service = createService({
    applications: definition,
    storage: storage(),
    security: openAccess(),
    report: (report) => void reports.push(report),
  })
  onTestFinished(() => service.close())
  await service.ready()
  expect(await service.inspect()).toEqual([])
  return {
    definition,
    collections: definition[application]?.collections ?? {},
    messages,
    notes: messages.trimEnd().split('\n'),
    service,
    reports,
    client: createTestClient(service),
    async send(method, path, values) {
      const reply = await service.handle({
        method,
        target: `/rest/v1/${application}/${path}`,
        header: (header) => ({ 'content-type': 'application/json' })[header],
        secure: true,
        peer: undefined,
        signal: undefined,
        body: async () => new TextEncoder().encode(JSON.stringify(values)),
      })
      return { ...(JSON.parse(reply.body) as Reply), status: reply.status }
    },
    async expectNothingToDo() {
      const diff = await run('schema', 'diff', out, '--storage', place, ...options, '--json')
      const changes = JSON.parse(diff.output) as unknown
      expect({ code: diff.code, changes }).toEqual({ code: 0, changes: nothingToDo })
    },
  }
}

/**
 * Publishes a database as a role sees it.
 *
 * @param servedAs the role that serves it, if it is another one
 */
export function publishAs(
  database: EmptyDatabase,
  role?: string,
  servedAs = role,
): Promise<Published> {
  return publish({ line: database.as(role).line, storage: database.as(servedAs).storage })
}

/** Publishes a SQLite file of a folder. */
export function publishFile(
  folder: string,
  name: string,
  options: SqliteOptions = {},
): Promise<Published> {
  const file = join(folder, `${name}.db`)
  return publish({ line: [file], storage: () => sqliteStorage(file, options) }, name, folder)
}
