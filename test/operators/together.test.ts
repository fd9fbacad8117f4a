import { expect } from 'vitest'
import { defineCollection, integer, system, text } from '../../src/entries/index.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { describeForCallers } from '../kit/stage.ts'
import { localStorages } from '../kit/storages.ts'
import { visitor } from '../kit/visitors.ts'
import { bytesOf } from '../rights/responses.ts'

const rows = { equal: { region: { attribute: 'region' } } } as const
const owners = defineCollection({
  key: 'code',
  fields: { code: integer(), city: text(), region: text() },
  rows,
})
const things = defineCollection({
  key: 'id',
  fields: { id: integer(), ownerId: integer({ references: 'owners' }), size: integer() },
  relations: { owner: 'ownerId' },
  operators: { size: ['gte', 'lt', 'in'], 'owner.city': ['eq', 'in'] },
})

const callers = ['x', 'y'].map((region) => visitor(region, { region }))
const queries = [
  ...Array.from({ length: 6 }, (_, size) => `size.gte=${size}`),
  ...Array.from({ length: 6 }, (_, size) => `size.in=${size}&size.in=${size + 3}`),
  ...['Oslo', 'Rome', 'Bern'].flatMap((city) => [
    `owner.city=${city}`,
    `owner.city.in=${city}&owner.city.in=Oslo&size.lt=5`,
  ]),
]

describeForCallers(
  'requests at the same time',
  (on) => {
    on('have the responses that they have one after the other', async (open) => {
      const { ask, service } = open({ collections: { owners, things } })
      const inside = service.as(system)
      const cities = ['Oslo', 'Rome', 'Bern']
      await inside.collection('app', 'owners').insertMany(
        Array.from({ length: 12 }, (_, code) => ({
          code,
          city: cities[code % 3],
          region: code % 2 === 0 ? 'x' : 'y',
        })) as never,
      )
      await inside
        .collection('app', 'things')
        .insertMany(Array.from({ length: 60 }, (_, id) => ({ id, ownerId: id % 12, size: id % 7 })))
      const requests = callers.flatMap((who) => queries.map((query) => ({ who, query })))
      const send = async ({ who, query }: (typeof requests)[number]): Promise<string> =>
        bytesOf(await ask(who, 'GET', `/things?$count=true&$limit=50&${query}`))
      const expected: string[] = []
      for (const one of requests) expected.push(await send(one))
      expect(new Set(expected).size).toBeGreaterThan(20)
      for (let round = 0; round < 3; round++)
        expect(await Promise.all(requests.map(send))).toEqual(expected)
    })
  },
  { on: [...localStorages, ...serverStorages], comparesRows: false },
)
