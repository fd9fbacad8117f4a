import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createService, openAccess, readApplications } from 'rowgate'
import { expect, onTestFinished } from 'vitest'
import type { ApplicationDefinitions } from '../../src/definition/application.ts'
import type { CollectionDefinition } from '../../src/definition/collection.ts'
import { keyNamesOf } from '../../src/definition/collection.ts'
import type { Field } from '../../src/definition/field.ts'
import { sqliteStorage, type SqliteOptions } from '../../src/entries/sqlite.ts'
import { runAlone } from '../cli/command-line.ts'
import { nothingToDo } from './empty-databases.ts'
import type { Item } from './published-rows.ts'

/** A SQLite file that is published with the definition of `rowgate introspect`. */
export interface Published {
  readonly definition: ApplicationDefinitions
  readonly collections: Readonly<Record<string, CollectionDefinition>>
  /** The notes of introspection. */
  readonly notes: readonly string[]
  readonly service: ReturnType<typeof createService>
  /** What the service has reported. */
  readonly reports: readonly unknown[]
  send(method: string, path: string, values?: unknown): Promise<Reply>
}

/** The status and the body of a response. */
export interface Reply {
  readonly status: number
  readonly items: readonly Item[]
  readonly item: Item | null
  readonly validations: readonly { readonly field: string | null; readonly message: string }[]
}

/** Expects that an introspected file has what its definition needs. */
export async function expectNothingToDo(folder: string, name: string): Promise<void> {
  const line = ['schema', 'diff', `${name}.json`, '--storage', `${name}.db`, '--json']
  const { code, output } = await runAlone(line, { workingFolder: folder })
  expect({ code, diff: JSON.parse(output) as unknown }).toEqual({ code: 0, diff: nothingToDo })
}

/** Introspects a file, and publishes it. */
export async function publishFile(
  folder: string,
  name: string,
  options: SqliteOptions = {},
): Promise<Published> {
  const out = `${name}.json`
  const line = ['introspect', `${name}.db`, '--out', out]
  const { code, messages } = await runAlone(line, { workingFolder: folder })
  expect({ code, messages }).toEqual({ code: 0, messages: expect.any(String) as string })
  const text = JSON.parse(readFileSync(join(folder, out), 'utf8')) as ApplicationDefinitions
  const definition = readApplications(text)
  const reports: unknown[] = []
  const service = createService({
    applications: definition,
    storage: sqliteStorage(join(folder, `${name}.db`), options),
    security: openAccess(),
    report: (report) => void reports.push(report),
  })
  onTestFinished(() => service.close())
  await service.ready()
  return {
    definition,
    collections: definition[name]?.collections ?? {},
    notes: messages.trimEnd().split('\n'),
    service,
    reports,
    async send(method, path, values) {
      const reply = await service.handle({
        method,
        target: `/rest/v1/${name}/${path}`,
        header: (header) => ({ 'content-type': 'application/json' })[header],
        secure: true,
        peer: undefined,
        signal: undefined,
        body: async () => new TextEncoder().encode(JSON.stringify(values)),
      })
      return { ...(JSON.parse(reply.body) as Reply), status: reply.status }
    },
  }
}

/** Reads every row of every table; inserts, finds, updates and deletes a copy of one; and expects that nothing is to be corrected. */
export async function exerciseAll(
  published: Published,
  folder: string,
  name: string,
): Promise<void> {
  for (const [endpoint, collection] of Object.entries(published.collections))
    await exercise(published, endpoint, collection)
  expect(published.reports).toEqual([])
  expect(await published.service.inspect()).toEqual([])
  const line = ['schema', 'diff', `${name}.json`, '--storage', `${name}.db`]
  const diff = await runAlone(line, { workingFolder: folder })
  expect({ code: diff.code, output: diff.output }).toMatchObject({ code: 0 })
}

async function exercise(
  published: Published,
  endpoint: string,
  collection: CollectionDefinition,
): Promise<void> {
  const { send } = published
  const { items, status } = await send('GET', `${endpoint}?$limit=100&$count=true`)
  expect({ endpoint, status }).toEqual({ endpoint, status: 200 })
  const [first] = items
  if (first === undefined) return
  const { publishes = ['Insert', 'Update', 'Delete'] } = collection
  const item = publishes.includes('Insert')
    ? await insertCopy(published, endpoint, copyOf(first, collection))
    : first
  for (const [field, value] of Object.entries(item)) {
    if (!['string', 'number', 'boolean'].includes(typeof value) || value === '') continue
    const condition = `${field}=${encodeURIComponent(String(value))}`
    const found = await send('GET', `${endpoint}?${condition}&$limit=100`)
    const isFound = found.items.some((each) => JSON.stringify(each) === JSON.stringify(item))
    expect({ endpoint, condition, isFound }).toEqual({ endpoint, condition, isFound: true })
  }
  const key = keyNamesOf(collection).map((part) => encodeURIComponent(String(item[part])))
  if (key.length === 0) return
  const path = `${endpoint}/${key.join(',')}`
  if (publishes.includes('Update')) await updateFields(published, path, { item, collection })
  if (publishes.includes('Delete') && item !== first)
    expect(await send('DELETE', path)).toMatchObject({ status: 200 })
}

async function insertCopy({ send }: Published, endpoint: string, values: Item): Promise<Item> {
  const inserted = await send('POST', endpoint, values)
  expect({ endpoint, ...inserted }).toMatchObject({ endpoint, status: 200, validations: [] })
  return inserted.item as Item
}

/** Sends an item back as it is, and then each of its texts with another value. */
async function updateFields(
  { send }: Published,
  path: string,
  { item, collection }: { readonly item: Item; readonly collection: CollectionDefinition },
): Promise<void> {
  expect(await send('POST', path, item)).toMatchObject({ status: 200, item })
  for (const [name, field] of Object.entries(collection.fields)) {
    const isFree = field.type === 'text' && !('enumeration' in field) && !('references' in field)
    if (!isFree || field.readOnly === true || keyNamesOf(collection).includes(name)) continue
    for (const value of [otherThan(item[name]), item[name]])
      expect(await send('POST', path, { [name]: value })).toMatchObject({
        ...{ status: 200, item: { [name]: value } },
      })
  }
}

/** Returns the values of an item for another one: keys and unique values differ. */
function copyOf(item: Item, collection: CollectionDefinition): Item {
  const keys = keyNamesOf(collection)
  const unique = new Set([...keys, ...(collection.unique ?? []).flat()])
  const values = Object.entries(item).flatMap(([name, value]) => {
    const field = collection.fields[name] as Field & { readonly unique?: boolean }
    if (field.readOnly === true || 'generated' in field) return []
    const isOther = field.unique === true || unique.has(name)
    return [[name, isOther ? otherThan(value) : value] as const]
  })
  return Object.fromEntries(values)
}

function otherThan(value: unknown): unknown {
  return typeof value === 'number' ? value + 1_000 : `${String(value).slice(0, -1)}~`
}
