import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { send } from '../kit/service.ts'
import { openStorage, storages } from '../kit/storages.ts'

const inServers = serverStorages.filter(({ name }) => !storages.some((one) => one.name === name))

describe.each([...storages, ...inServers])('required fields on $name', (storage) => {
  async function open(collections: Readonly<Record<string, CollectionDefinition>>) {
    const service = createService({
      applications: { app: { collections } },
      storage: openStorage(storage),
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    await service.ready()
    return async (method: string, path: string, body?: unknown) =>
      (await send(service, { method, path: `/${path}`, body })).status
  }

  test('a null in one is a failed save, in an insert and in an update', async () => {
    const notes = defineCollection({
      key: 'id',
      fields: { id: integer(), title: text({ required: true }), more: text() },
    })
    const ask = await open({ notes })
    expect(await ask('POST', 'notes', { id: 1 })).toBe(400)
    expect(await ask('POST', 'notes', { id: 1, title: null })).toBe(400)
    expect(await ask('POST', 'notes', { id: 1, title: '' })).toBe(200)
    expect(await ask('POST', 'notes/1', { title: null })).toBe(400)
    expect(await ask('POST', 'notes/1', { more: 'x' })).toBe(200)
  })

  test('a handler may give a read-only one its value', async () => {
    const notes = defineCollection({
      key: 'id',
      fields: { id: integer(), slug: text({ required: true, readOnly: true }) },
      events: {
        Insert: {
          before({ item }) {
            item.slug = `note-${item.id}`
          },
        },
      },
    })
    const ask = await open({ notes })
    expect(await ask('POST', 'notes', { id: 1 })).toBe(200)
  })

  test('an insert by another collection of the table may leave one out', async () => {
    const id = integer()
    const table = 'notes'
    const notes = defineCollection({
      key: 'id',
      table,
      fields: { id, title: text({ required: true }) },
    })
    const drafts = defineCollection({ key: 'id', table, fields: { id, title: text() } })
    const numbers = defineCollection({ key: 'id', table, fields: { id } })
    const ask = await open({ notes, drafts, numbers })
    expect(await ask('POST', 'drafts', { id: 1 })).toBe(200)
    expect(await ask('POST', 'numbers', { id: 2 })).toBe(200)
    expect(await ask('GET', 'notes/2')).toBe(200)
  })

  test('rows that refer to each other in a circle can be deleted', async () => {
    const teams = defineCollection({
      key: 'id',
      fields: { id: integer(), lead: integer({ required: true, references: 'people' }) },
    })
    const people = defineCollection({
      key: 'id',
      fields: { id: integer(), team: integer({ references: 'teams', onDelete: 'cascade' }) },
    })
    const ask = await open({ teams, people })
    expect(await ask('POST', 'people', { id: 1 })).toBe(200)
    expect(await ask('POST', 'teams', { id: 1, lead: 1 })).toBe(200)
    expect(await ask('POST', 'people/1', { team: 1 })).toBe(200)
    expect(await ask('DELETE', 'teams/1')).toBe(200)
    expect(await ask('GET', 'people/1')).toBe(404)
  })

  test('a tree whose parents are required can be deleted', async () => {
    const parent = integer({ required: true, references: 'nodes', onDelete: 'cascade' })
    const nodes = defineCollection({ key: 'id', fields: { id: integer(), parent } })
    const ask = await open({ nodes })
    expect(await ask('POST', 'nodes', { id: 1, parent: 1 })).toBe(200)
    expect(await ask('POST', 'nodes', { id: 2, parent: 1 })).toBe(200)
    expect(await ask('POST', 'nodes/1', { parent: 2 })).toBe(200)
    expect(await ask('DELETE', 'nodes/1')).toBe(200)
    expect(await ask('GET', 'nodes/2')).toBe(404)
  })
})
