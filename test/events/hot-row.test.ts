import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { openStorage, storages, type Storage } from '../kit/storages.ts'

const everywhere = [...new Set([...storages, ...serverStorages])]
const clients = 20
const savesEach = 5

function open(on: Storage, collections: Record<string, CollectionDefinition>) {
  const service = createService({
    applications: { app: { collections } },
    storage: openStorage(on),
    report: () => undefined,
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  return createTestClient(service)
}

/** Sends requests from 20 clients, each of which waits for its responses, and counts their statuses. */
async function together(send: (client: number, save: number) => Promise<number>) {
  const statuses: Record<number, number> = {}
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let save = 0; save < savesEach; save++) {
        const status = await send(client, save)
        statuses[status] = (statuses[status] ?? 0) + 1
      }
    }),
  )
  return statuses
}

const counts = { key: 'name', fields: { name: text(), value: integer(), by: text() } } as const

const counting = {
  'a synchronous handler': defineCollection(counts, {
    events: {
      Update: {
        before: ({ item, stored }) => {
          item.value = (stored.value ?? 0) + 1
        },
      },
    },
  }),
  'an asynchronous handler': defineCollection(counts, {
    events: {
      Update: {
        before: async ({ item, stored }) => {
          await new Promise((resolve) => setTimeout(resolve, 2))
          item.value = (stored.value ?? 0) + 1
        },
      },
    },
  }),
}

describe.each(everywhere)('on $name', (on) => {
  test.each(Object.entries(counting))(
    'every save of one item by 20 clients is kept, with %s',
    async (_, collection) => {
      const client = open(on, { counts: collection })
      await client.post('/app/counts', { name: 'calls', value: 0, by: '' })
      const statuses = await together(async (by, save) => {
        const { status } = await client.post('/app/counts/calls', { by: `${by} ${save}` })
        return status
      })
      expect(statuses).toEqual({ 200: clients * savesEach })
      const { body } = await client.get('/app/counts/calls')
      expect(body).toMatchObject({ item: { value: clients * savesEach } })
    },
  )
})
