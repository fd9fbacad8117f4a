import { expect, onTestFinished, test } from 'vitest'
import { connection, endpoint, isCallError } from '../../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  openAccess,
  principal,
  text,
} from '../../../src/entries/index.ts'
import { openStorage, storages } from '../../kit/storages.ts'

const weather = endpoint(
  connection({ baseUrl: 'https://weather.example.com', fetch: async () => Response.json('sunny') }),
  { name: 'weather', path: '/' },
)

test.each(storages)('a call in a write transaction on $name is rejected', async (on) => {
  const seen: string[] = []
  const call = async (place: string): Promise<void> => {
    try {
      await weather.call({})
      seen.push(`${place}: called`)
    } catch (error) {
      seen.push(`${place}: ${isCallError(error) ? error.code : 'another error'}`)
    }
  }
  const notes = defineCollection(
    { key: 'id', fields: { id: text() } },
    {
      events: {
        Filter: { after: () => call('filter') },
        Insert: {
          before: () => call('before'),
          after: () => call('after'),
          committed: () => call('committed'),
        },
      },
    },
  )
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: openStorage(on),
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  const user = service.as(principal('maria'))
  await user.collection('app', 'notes').insert({ id: 'a' })
  await expect.poll(() => seen).toContain('committed: called')
  await user.collection('app', 'notes').filter()
  await user.transaction(() => call('transaction'))
  await call('outside')
  expect(seen.sort()).toEqual([
    'after: IN_TRANSACTION',
    'before: IN_TRANSACTION',
    'committed: called',
    'filter: called',
    'outside: called',
    'transaction: IN_TRANSACTION',
  ])
})
