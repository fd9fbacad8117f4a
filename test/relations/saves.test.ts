import { expect } from 'vitest'
import { decimal, defineCollection, integer, system, text } from '../../src/entries/index.ts'
import { visitor } from '../kit/visitors.ts'
import { describeRelations } from './relation-storages.ts'

const ada = visitor('ada', { roles: 'Clerk' })

const places = defineCollection({
  key: 'code',
  fields: { code: text(), name: text() },
})
const prices = defineCollection({
  key: ['code', 'amount'],
  fields: { code: text(), amount: decimal({ precision: 9, scale: 2 }) },
})
const visits = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    place: text({ references: 'places' }),
    next: text({ references: 'places' }),
    amount: decimal({ precision: 7, scale: 2 }),
    parent: integer({ references: 'visits' }),
    note: text({ maxLength: 5 }),
  },
  references: [{ fields: ['place', 'amount'], collection: 'prices' }],
})
const collections = { places, prices, visits }

const unknown = (field: string) => ({
  message: `${field} must be the key of an item of places.`,
  severity: 'error',
  field,
})

describeRelations('a reference', (on) => {
  on('may be null, or the key of an item', async (open) => {
    const { ask } = open(collections)
    expect((await ask(ada, 'POST', '/visits', { id: 1 })).status).toBe(200)
    await ask(ada, 'POST', '/places', { code: 'A' })
    const body = { id: 2, place: 'A', next: 'A', parent: 1 }
    expect((await ask(ada, 'POST', '/visits', body)).status).toBe(200)
    expect((await ask(ada, 'POST', '/visits/2', { place: null })).status).toBe(200)
  })

  on('to nothing is a failed save that names each field', async (open) => {
    const { ask, rows } = open(collections)
    await ask(ada, 'POST', '/places', { code: 'A' })
    const answer = await ask(ada, 'POST', '/visits', { id: 1, place: 'B', next: 'C' })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      item: { id: 1, place: 'B', next: 'C' },
      message: 'The changes could not be saved.',
      validations: [unknown('place'), unknown('next')],
      status: 200,
    })
    // The case of letters counts.
    const lower = await ask(ada, 'POST', '/visits', { id: 1, place: 'a' })
    expect(lower.body.validations).toEqual([unknown('place')])
    expect(await rows('visits')).toEqual([])
  })

  on('to nothing is found after all other errors', async (open) => {
    const { ask } = open(collections)
    const answer = await ask(ada, 'POST', '/visits', { id: 1, place: 'B', note: 'too long' })
    expect(answer.body.validations).toMatchObject([{ field: 'note' }])
  })

  on('of several fields names all of them, and does not count with a null', async (open) => {
    const { ask } = open(collections)
    await ask(ada, 'POST', '/places', { code: 'A' })
    await ask(ada, 'POST', '/prices', { code: 'A', amount: '1.50' })
    const insert = (id: number, amount: string | null) =>
      ask(ada, 'POST', '/visits', { id, place: 'A', amount })
    expect((await insert(1, '1.5')).status).toBe(200)
    expect((await insert(2, null)).status).toBe(200)
    const message = 'place, amount must be the key of an item of prices.'
    expect((await insert(3, '1.51')).body.validations).toEqual([
      { message, severity: 'error', field: 'place' },
      { message, severity: 'error', field: 'amount' },
    ])
    const update = await ask(ada, 'POST', '/visits/2', { amount: '7' })
    expect(update.body.validations).toMatchObject([{ field: 'place' }, { field: 'amount' }])
  })

  on('is checked in an update that changes it', async (open) => {
    const { ask } = open(collections)
    await ask(ada, 'POST', '/places', { code: 'A' })
    await ask(ada, 'POST', '/visits', { id: 1, place: 'A' })
    const answer = await ask(ada, 'POST', '/visits/1', { place: 'B', note: 'x' })
    expect(answer.body.validations).toEqual([unknown('place')])
    expect((await ask(ada, 'POST', '/visits/1', { place: 'A', note: 'x' })).status).toBe(200)
  })

  on('may be to the new item itself', async (open) => {
    const { ask } = open(collections)
    expect((await ask(ada, 'POST', '/visits', { id: 1, parent: 1 })).status).toBe(200)
    expect((await ask(ada, 'POST', '/visits', { id: 2, parent: 3 })).status).toBe(400)
  })

  on('and a duplicate are found together', async (open) => {
    const { ask } = open(collections)
    await ask(ada, 'POST', '/visits', { id: 1 })
    const answer = await ask(ada, 'POST', '/visits', { id: 1, place: 'B' })
    expect(answer.body.validations).toEqual([
      { message: 'Another item of visits has this id.', severity: 'error', field: 'id' },
      unknown('place'),
    ])
  })

  on('holds for in-process calls, handlers and system', async (open) => {
    const writing = defineCollection(
      { key: 'id', fields: { id: integer() } },
      {
        events: {
          Insert: {
            after: async ({ item, system: own }) => {
              const saved = await own.collection('visits').insert({ id: item.id, place: 'B' })
              expect(saved).toMatchObject({ rejected: true, validations: [unknown('place')] })
            },
          },
        },
      },
    )
    const { service, ask, rows } = open({ ...collections, writing })
    await service.ready()
    const own = service.as(system).collection('app', 'visits')
    const saved = await own.insert({ id: 1, place: 'B' })
    expect(saved).toMatchObject({ rejected: true, validations: [unknown('place')] })
    expect((await ask(ada, 'POST', '/writing', { id: 1 })).status).toBe(200)
    expect(await rows('visits')).toEqual([])
    await service.as(system).transaction(async ({ collection }) => {
      await collection('app', 'places').insert({ code: 'B' })
      const later = await collection('app', 'visits').insert({ id: 1, place: 'B' })
      expect(later.rejected).toBe(false)
    })
  })
})

describeRelations('a reference to items that the caller cannot read', (on) => {
  const rooms = defineCollection({
    key: 'roomId',
    fields: { roomId: integer(), owner: text() },
    rows: { equal: { owner: { principal: 'user' } }, exceptRoles: ['Chief'] },
  })
  const vaults = defineCollection({
    key: 'vaultId',
    fields: { vaultId: integer() },
    eventRoles: { Filter: ['Chief'] },
  })
  const bookings = defineCollection({
    key: 'id',
    fields: {
      id: integer(),
      roomId: integer({ references: 'rooms' }),
      vaultId: integer({ references: 'vaults' }),
      note: text(),
    },
  })
  const chief = visitor('carl', { roles: 'Chief' })

  on('is a reference to nothing', async (open) => {
    const { ask } = open({ rooms, vaults, bookings })
    await ask(chief, 'POST', '/rooms', { roomId: 1, owner: 'ada' })
    await ask(chief, 'POST', '/rooms', { roomId: 2, owner: 'bob' })
    await ask(chief, 'POST', '/vaults', { vaultId: 1 })
    expect((await ask(ada, 'POST', '/bookings', { id: 1, roomId: 1 })).status).toBe(200)
    const hidden = await ask(ada, 'POST', '/bookings', { id: 2, roomId: 2, vaultId: 1 })
    const missing = await ask(ada, 'POST', '/bookings', { id: 2, roomId: 9, vaultId: 9 })
    expect(hidden.body.validations).toEqual([
      {
        message: 'roomId must be the key of an item of rooms.',
        severity: 'error',
        field: 'roomId',
      },
      {
        message: 'vaultId must be the key of an item of vaults.',
        severity: 'error',
        field: 'vaultId',
      },
    ])
    expect(missing.body.validations).toEqual(hidden.body.validations)
    const body = { id: 2, roomId: 2, vaultId: 1 }
    expect((await ask(chief, 'POST', '/bookings', body)).status).toBe(200)
  })

  on('may be kept by an update', async (open) => {
    const { ask } = open({ rooms, vaults, bookings })
    await ask(chief, 'POST', '/rooms', { roomId: 2, owner: 'bob' })
    await ask(chief, 'POST', '/bookings', { id: 2, roomId: 2 })
    const kept = await ask(ada, 'POST', '/bookings/2', { roomId: 2, note: 'x' })
    expect(kept.body.item).toMatchObject({ roomId: 2, note: 'x' })
    expect((await ask(ada, 'POST', '/bookings/2', { roomId: 3 })).status).toBe(400)
  })
})

describeRelations('a reference to the item itself', (on) => {
  on('cannot name a number that storage has not generated yet', async (open) => {
    const { ask } = open({
      tree: defineCollection({
        key: 'id',
        fields: {
          id: integer({ generated: 'database' }),
          above: integer({ references: 'tree' }),
        },
      }),
    })
    const answer = await ask(ada, 'POST', '/tree', { above: 1 })
    expect(answer.body.validations).toMatchObject([{ field: 'above' }])
    expect((await ask(ada, 'POST', '/tree', {})).status).toBe(200)
    expect((await ask(ada, 'POST', '/tree', { above: 1 })).status).toBe(200)
  })
})
