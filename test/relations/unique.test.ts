import { expect } from 'vitest'
import { defineCollection, integer, principal, text } from '../../src/entries/index.ts'
import { visitor } from '../kit/visitors.ts'
import { describeRelations } from './relation-storages.ts'

const ada = visitor('ada', { roles: 'Clerk' })
const chief = visitor('carl', { roles: 'Chief' })

const offices = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    phone: text({ unique: true }),
    country: text(),
    city: text(),
    badge: text({ unique: true, readableBy: ['Chief'], writableBy: ['Chief'] }),
  },
  unique: [
    ['city', 'country'],
    ['country', 'badge'],
  ],
})
const lima = { country: 'Peru', city: 'Lima' }
const same = (fields: string, field: string) => ({
  message: `Another item of offices has this ${fields}.`,
  severity: 'error',
  field,
})

describeRelations('a duplicate of a unique group', (on) => {
  on('names every field of the group, and every group', async (open) => {
    const { ask, rows } = open({ offices })
    await ask(ada, 'POST', '/offices', { id: 1, phone: '1', ...lima })
    const group = await ask(ada, 'POST', '/offices', { id: 2, ...lima })
    expect(group.status).toBe(400)
    expect(group.body.validations).toEqual([
      same('city, country', 'country'),
      same('city, country', 'city'),
    ])
    const all = await ask(ada, 'POST', '/offices', { id: 1, phone: '1', ...lima })
    expect(all.body.validations).toEqual([
      same('id', 'id'),
      same('phone', 'phone'),
      same('city, country', 'country'),
      same('city, country', 'city'),
    ])
    expect(await rows('offices')).toHaveLength(1)
  })

  on('does not count with a null, and ends with the item', async (open) => {
    const { ask } = open({ offices })
    for (const id of [1, 2])
      expect((await ask(ada, 'POST', '/offices', { id, country: 'Peru' })).status).toBe(200)
    await ask(ada, 'POST', '/offices', { id: 3, phone: '1', ...lima })
    expect((await ask(ada, 'POST', '/offices/1', { city: 'Lima' })).status).toBe(400)
    await ask(ada, 'DELETE', '/offices/3')
    expect((await ask(ada, 'POST', '/offices/1', { city: 'Lima', phone: '1' })).status).toBe(200)
    expect((await ask(ada, 'POST', '/offices/1', { city: 'Lima', phone: '1' })).status).toBe(200)
  })

  on('of an update names only what it changes', async (open) => {
    const { ask } = open({ offices })
    await ask(ada, 'POST', '/offices', { id: 1, phone: '1', ...lima })
    await ask(ada, 'POST', '/offices', { id: 2, phone: '2', country: 'Peru', city: 'Cusco' })
    const answer = await ask(ada, 'POST', '/offices/2', { phone: '1' })
    expect(answer.body.validations).toEqual([same('phone', 'phone')])
  })

  on('does not show a field that the caller cannot see', async (open) => {
    const { ask } = open({ offices })
    await ask(chief, 'POST', '/offices', { id: 1, badge: 'x', country: 'Peru' })
    await ask(chief, 'POST', '/offices', { id: 2, badge: 'y', country: 'Chile' })
    const seen = await ask(chief, 'POST', '/offices/2', { badge: 'x', country: 'Peru' })
    expect(seen.body.validations).toEqual([
      same('country, badge', 'country'),
      same('badge', 'badge'),
      same('country, badge', 'badge'),
    ])
    const unseen = await ask(ada, 'POST', '/offices', { id: 3, badge: 'x' })
    expect(unseen.text).not.toContain('has this')
  })
})

const parts = defineCollection({
  key: ['box', 'row'],
  fields: { box: integer(), row: text(), label: text({ unique: true }) },
})
const repeated = ['box', 'row'].map((field) => ({
  message: 'Another item of parts has this box, row.',
  severity: 'error',
  field,
}))

describeRelations('a duplicate of a composite key', (on) => {
  on('names each of its fields, in order, with the fields of other groups', async (open) => {
    const { ask, rows } = open({ parts })
    const first = { box: 1, row: 'a', label: 'x' }
    expect((await ask(ada, 'POST', '/parts', first)).status).toBe(200)
    const answer = await ask(ada, 'POST', '/parts', { box: 1, row: 'a' })
    expect(answer.status).toBe(400)
    expect(answer.body.validations).toEqual(repeated)
    expect(answer.body.item).toEqual({ box: 1, row: 'a' })
    const both = await ask(ada, 'POST', '/parts', first)
    expect(both.body.validations).toEqual([
      ...repeated,
      { message: 'Another item of parts has this label.', severity: 'error', field: 'label' },
    ])
    expect(await rows('parts')).toHaveLength(1)
  })

  on('names them for each of several items', async (open) => {
    const { service, rows } = open({ parts })
    const access = service.as(principal('ada')).collection('app', 'parts')
    const values = [
      { box: 1, row: 'a' },
      { box: 2, row: 'b' },
      { box: 1, row: 'a' },
    ]
    const result = await access.insertMany(values)
    const third = repeated.map((entry) => ({ index: 2, key: null, ...entry }))
    expect(result).toMatchObject({ rejected: true, validations: third })
    expect(await rows('parts')).toEqual([])
  })
})
