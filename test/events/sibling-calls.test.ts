import { expect, test } from 'vitest'
import { defineCollection, integer, principal, text } from '../../src/entries/index.ts'
import { describeOnStorages, openStage } from '../kit/stage.ts'

const fields = { id: integer(), name: text({ maxLength: 50 }) }
const data = { key: 'id', fields } as const
const stock = defineCollection(data)
const log = defineCollection(data)
const checked = defineCollection({
  ...data,
  validations: [
    { name: 'good', severity: 'error', message: 'Bad.', check: ({ name }) => name !== 'bad' },
  ],
})

describeOnStorages('calls that a handler makes at once', (on) => {
  on('leave the other call as it is if an item is missing', async (open) => {
    const seen: boolean[] = []
    const orders = defineCollection(data, {
      events: {
        Insert: {
          after: async ({ collection }) => {
            const updates = [1, 99].map((id) => collection(stock).update(id, { name: 'taken' }))
            const done = await Promise.all(updates)
            seen.push(...done.map((one) => one === undefined))
          },
        },
      },
    })
    const { ask } = open({ stock, orders })
    await ask('POST', '/stock', { id: 1, name: 'free' })
    expect(await ask('POST', '/orders', { id: 1, name: 'x' })).toMatchObject({ status: 200 })
    expect(seen).toEqual([false, true])
    expect((await ask('GET', '/stock/1')).body).toMatchObject({ item: { name: 'taken' } })
  })

  on('leave the other calls as they are if one is rejected', async (open) => {
    const orders = defineCollection(data, {
      events: {
        Insert: {
          after: async ({ collection }) => {
            await Promise.all([
              collection(checked).update(1, { name: 'bad' }),
              collection(log).insert({ id: 1, name: 'kept' }),
              collection(log).insertMany([{ id: 2, name: 'kept' }]),
            ])
          },
        },
      },
    })
    const { ask } = open({ log, checked, orders })
    await ask('POST', '/checked', { id: 1, name: 'good' })
    expect(await ask('POST', '/orders', { id: 1, name: 'x' })).toMatchObject({ status: 200 })
    expect((await ask('GET', '/log?$sort=id')).body.items).toMatchObject([{ id: 1 }, { id: 2 }])
    expect((await ask('GET', '/checked/1')).body).toMatchObject({ item: { name: 'good' } })
  })
})

test('code of prepare that fails does not fail the served event that has invoked its event', async () => {
  const target = defineCollection(data, {
    events: {
      Insert: {
        prepare: ({ find }) => {
          // A forgotten await.
          void find(log)
        },
      },
    },
  })
  const caught: string[] = []
  let inserts = 0
  const served = defineCollection(data, {
    serve: {
      filter: () => [],
      insert: ({ item }) => {
        inserts++
        return item
      },
    },
    events: {
      Insert: {
        before: async ({ collection }) => {
          const access = collection(target)
          for (const insert of [
            () => access.insert({ id: 1, name: 'b' }),
            () => access.insertMany([{ id: 2, name: 'b' }]),
          ])
            await insert().catch((error: unknown) => caught.push(String(error)))
        },
      },
    },
  })
  const { service } = openStage({ target, log, served })
  const access = service.as(principal('maria')).collection('app', 'served')
  expect(await access.insert({ id: 1, name: 'x' })).toMatchObject({ rejected: false })
  expect(inserts).toBe(1)
  expect(caught).toHaveLength(2)
})
