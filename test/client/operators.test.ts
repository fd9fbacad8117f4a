import { expect, test } from 'vitest'
import { createClient } from '../../src/entries/client.ts'
import { defineCollection, integer, principal, text } from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { serveDuringTest } from '../kit/server.ts'
import { openStage } from '../kit/stage.ts'

const notes = defineCollection({
  key: 'id',
  fields: { id: integer(), title: text(), size: integer() },
  operators: true,
})

async function open() {
  const { service } = openStage({ notes })
  const inside = service.as(principal('maria')).collection('app', 'notes')
  const titles = ['a,b', 'c&d=e', '100%', "'x'", null, '']
  await inside.insertMany(titles.map((title, id) => ({ id, title, size: id || null })))
  const requests: string[] = []
  const handler = toNodeHandler(service)
  const url = await serveDuringTest((request, response) => {
    requests.push(decodeURIComponent(request.url ?? ''))
    handler(request, response)
  })
  return {
    inside,
    requests,
    outside: createClient<typeof service>({ url }).collection('app', 'notes'),
  }
}

test('the same conditions find the same items in process and over the network', async () => {
  const { inside, outside } = await open()
  for (const conditions of [
    { size: { gte: 2, lt: 5 } },
    { size: { in: [1, 3, null] } },
    { size: { notIn: [1, 3] } },
    { size: { notIn: [] } },
    { size: { ne: null } },
    { size: { ne: 2 }, title: { contains: '&' } },
    { title: { startsWith: '100%' } },
    { title: { in: ['a,b', "'x'"] } },
    { title: { isNull: true } },
    { title: { isNull: false, gt: 'a' } },
    { size: { in: [] } },
  ]) {
    const { items } = await inside.filter(conditions)
    expect((await outside.filter(conditions)).items).toEqual(items)
    expect(await outside.count(conditions)).toBe(items.length)
    expect(await outside.exists(conditions)).toBe(items.length > 0)
  }
})

test('an empty list is answered without a request', async () => {
  const { outside, requests } = await open()
  const conditions = { id: 1, size: { gte: 1, in: [] } }
  const empty = { items: [], count: null, validations: [] }
  expect(await outside.filter(conditions)).toEqual(empty)
  expect(await outside.filter(conditions, { count: true, limit: 5 })).toEqual({
    ...empty,
    count: 0,
  })
  expect(await outside.count(conditions)).toBe(0)
  expect(await outside.exists(conditions)).toBe(false)
  for await (const item of outside.items(conditions)) expect(item).toBeUndefined()
  expect(requests).toEqual([])
})

test('a list is repeated, and null is an empty value', async () => {
  const { outside, requests } = await open()
  await outside.filter({ title: { in: ['a,b', null], ne: null } }, { limit: 1 })
  expect(requests[0]).toContain('?title.in=a,b&title.in=&title.ne=&$limit=1&')
})

test.each<[unknown]>([
  [{}],
  [{ gte: null }],
  [{ gte: undefined }],
  [{ in: undefined }],
  [{ in: [undefined] }],
  [{ in: [1, , 2] }],
  [{ gte: { eq: 1 } }],
  [{ isNull: null }],
  [[1, 2]],
  [new Date(0)],
  [Object.create({ gte: 1 })],
])('%o is not a condition, and sends nothing', async (condition) => {
  const { outside, requests } = await open()
  await expect(outside.filter({ size: condition as never })).rejects.toThrow(TypeError)
  expect(requests).toEqual([])
})
