import { expect } from 'vitest'
import { defineCollection, integer, system } from '../../src/entries/index.ts'
import { visitor } from '../kit/visitors.ts'
import { describeRelations } from './relation-storages.ts'

const ada = visitor('ada')
const tree = defineCollection({
  key: 'id',
  fields: { id: integer(), parent: integer({ references: 'tree', onDelete: 'cascade' }) },
})

describeRelations('a cascade', (on) => {
  on('deletes 1000 levels of items, and not one more', async (open) => {
    const { service, ask, rows } = open({ tree })
    const items = service.as(system).collection('app', 'tree')
    const chain = (from: number, levels: number) =>
      Array.from({ length: levels + 1 }, (_, level) => ({
        id: from + level,
        parent: level === 0 ? null : from + level - 1,
      }))
    await items.insertMany([...chain(0, 1000), ...chain(5000, 1001)] as never)
    expect((await ask(ada, 'DELETE', '/tree/0')).status).toBe(200)
    const left = (await rows('tree')).length
    const answer = await ask(ada, 'DELETE', '/tree/5000')
    expect([left, answer.status, answer.body.message]).toEqual([
      1002,
      409,
      'More than 1000 levels of items refer to this one.',
    ])
    expect(await rows('tree')).toHaveLength(1002)
  })
})
