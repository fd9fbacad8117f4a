import { expect, test } from 'vitest'
import { defineCollection, integer, memoryStorage, system, text } from '../../src/entries/index.ts'
import { send } from '../kit/service.ts'
import { openService } from '../kit/stage.ts'

const things = defineCollection({
  key: 'id',
  fields: { id: integer(), name: text(), parentId: integer({ references: 'things' }) },
  count: 'estimated',
  relations: { parent: 'parentId' },
  operators: { id: ['gte'], name: ['contains', 'startsWith'], 'parent.name': ['eq'] },
})

test('a count of parts of strings and of referenced items is never an estimate', async () => {
  const { service } = openService({
    applications: { app: { collections: { things } } },
    storage: { ...memoryStorage(), estimateCount: () => 1234 },
  })
  const inside = service.as(system).collection('app', 'things')
  await inside.insertMany(
    Array.from({ length: 20 }, (_, id) => ({ id, name: 'a', parentId: id === 0 ? null : 0 })),
  )
  for (const [query, count] of [
    ['id.gte=0', 1234],
    ['name.startsWith=a', 1234],
    ['name.contains=a', 20],
    ['parent.name=a', 19],
    ['id.gte=5&name.contains=a', 15],
  ] as const) {
    const path = `/things?$limit=5&$count=true&${query}`
    const { body, headers } = await send(service, { method: 'GET', path })
    const isEstimated = headers['X-Svc-Estimated-Count'] !== undefined
    expect([query, body.count, isEstimated]).toEqual([query, count, count === 1234])
  }
})
