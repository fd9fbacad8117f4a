import { writeSync } from 'node:fs'
import { once } from 'node:events'
import { createService, openAccess } from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { storageOf, type ProcessDatabase } from '../kit/process-storage.ts'
import { counting, type Handlers } from './counting.ts'
import { together } from './together.ts'

/** What a process has to do: in which database it counts, with which handlers. */
export interface CountingOrder {
  readonly database: ProcessDatabase
  readonly handlers: Handlers
}

// Saves one item from 20 clients at a signal, and ends with its input.
const { database, handlers } = JSON.parse(process.argv[2] ?? '') as CountingOrder
const service = createService({
  applications: { app: { collections: { counts: counting[handlers] } } },
  storage: await storageOf(database),
  security: openAccess(),
  report: () => undefined,
})
await service.ready()
const client = createTestClient(service)
// The first of the processes creates the item.
await client.post('/app/counts', { name: 'calls', value: 0, by: '' })
process.once('SIGUSR2', () => {
  void together(async (by, save) => {
    const { status } = await client.post('/app/counts/calls', { by: `${by} ${save}` })
    return status
  }).then((statuses) => writeSync(1, `statuses ${JSON.stringify(statuses)}\n`))
})
writeSync(1, 'ready 0\n')
process.stdin.resume()
await once(process.stdin, 'end')
const { body } = await client.get('/app/counts/calls')
writeSync(1, `value ${String(body.item?.['value'])}\n`)
await service.close()
process.exit(0)
