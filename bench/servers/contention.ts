import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import {
  createService,
  defineCollection,
  increment,
  integer,
  memoryStorage,
  openAccess,
  system,
  text,
} from 'rowgate'
import { mysqlStorage } from 'rowgate/mysql'
import { postgresStorage } from 'rowgate/postgres'
import { sqliteStorage } from 'rowgate/sqlite'
import type { StorageAdapter } from 'rowgate/storage'
import { connectionsOf, databaseFile, mysqlConnectionsOf } from './announce.ts'

/** How the saves of one item by many clients have ended, by how they count. */
export type ContentionFigures = Readonly<Record<'handler' | 'increment', CountedSaves>>

/** What was stored of the saves of each round, and the time of each save. */
export interface CountedSaves {
  readonly stored: readonly number[]
  readonly milliseconds: readonly number[]
}

const clients = 20
const savesEach = 5
const [warmUps, rounds] = [5, 20]

const count = { key: 'name', fields: { name: text(), value: integer(), by: text() } } as const
const collections = {
  handled: defineCollection(count, {
    events: {
      Update: {
        before: ({ item, stored }) => {
          item.value = (stored.value ?? 0) + 1
        },
      },
    },
  }),
  plain: defineCollection(count),
}

const options = { ensureSchema: true }
const storages: Readonly<Record<string, () => StorageAdapter>> = {
  memory: () => memoryStorage(),
  sqlite: () => sqliteStorage(databaseFile(), { ...options, synchronous: 'FULL' }),
  postgres: () => postgresStorage(new Pool(connectionsOf()), options),
  mariadb: () => mysqlStorage(createPool(mysqlConnectionsOf()), options),
}
const storage = storages[process.argv[3] ?? '']?.()
if (storage === undefined) throw new Error('The storage is missing.')
const service = createService({
  applications: { app: { collections } },
  storage,
  security: openAccess(),
})
await service.ready()
const application = service.as(system)

/** Saves the item from all clients, each of which waits for its saves, in several rounds. */
async function counted(
  valueOf: () => Promise<number>,
  save: (by: string) => Promise<unknown>,
): Promise<CountedSaves> {
  const stored: number[] = []
  const milliseconds: number[] = []
  const saveEach = async (client: number): Promise<void> => {
    for (let number = 0; number < savesEach; number++) {
      const began = performance.now()
      // A save that fails is missing from what is stored.
      await save(`${client} ${number}`).catch(() => undefined)
      milliseconds.push(performance.now() - began)
    }
  }
  for (let round = -warmUps; round < rounds; round++) {
    if (round === 0) milliseconds.length = 0
    const before = await valueOf()
    await Promise.all(Array.from({ length: clients }, (_, client) => saveEach(client)))
    if (round >= 0) stored.push((await valueOf()) - before)
  }
  return { stored, milliseconds }
}

async function figuresOf(): Promise<ContentionFigures> {
  const handled = application.collection('app', 'handled')
  const plain = application.collection('app', 'plain')
  await handled.insert({ name: 'calls', value: 0, by: '' })
  await plain.insert({ name: 'calls', value: 0, by: '' })
  return {
    handler: await counted(
      async () => (await handled.get('calls'))?.value ?? 0,
      (by) => handled.update('calls', { by }),
    ),
    increment: await counted(
      async () => (await plain.get('calls'))?.value ?? 0,
      (by) => plain.update('calls', { by, value: increment(1) }),
    ),
  }
}

const figures = await figuresOf()
await service.close()
process.on('disconnect', () => process.exit())
process.send?.(figures)
