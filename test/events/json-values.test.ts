import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  error,
  integer,
  json,
  memoryStorage,
  openAccess,
  system,
  text,
  type CollectionBehaviour,
  type Json,
} from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'

const fields = { id: integer(), tags: json(), note: text({ maxLength: 5 }) }

async function open(code: CollectionBehaviour<{ key: 'id'; fields: typeof fields }>) {
  const notes = defineCollection({ key: 'id', fields }, code)
  const errors: unknown[] = []
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: openAccess(),
    report: (report) => errors.push('error' in report ? report.error : report),
  })
  await service.ready()
  return { notes: service.as(system).collection('desk', 'notes'), errors }
}

// Their type is read-only, but JavaScript can change them.
function tagsOf({ tags }: { readonly tags?: Json }): Json[] {
  return tags as Json[]
}

test('a before handler may change a list in place that the client did not send', async () => {
  let seen: unknown
  const { notes } = await open({
    events: {
      Update: {
        before: ({ item, stored }) => {
          tagsOf(item).push('new')
          seen = stored.tags
        },
      },
    },
  })
  await notes.insert({ id: 1, tags: ['old'], note: 'a' })
  await notes.update(1, { note: 'b' })
  expect(seen).toEqual(['old'])
  expect(await notes.get(1)).toEqual({ id: 1, tags: ['old', 'new'], note: 'b' })
})

test('a handler cannot change the stored item within a list', async () => {
  const { notes, errors } = await open({
    events: { Update: { before: ({ stored }) => void tagsOf(stored).push('x') } },
  })
  await notes.insert({ id: 1, tags: [], note: 'a' })
  await expect(notes.update(1, { note: 'b' })).rejects.toMatchObject({ code: 'INTERNAL' })
  expect(errors).toEqual([expect.any(TypeError)])
})

test('a validation cannot sort the list that it checks', async () => {
  const { notes, errors } = await open({
    validations: [error('sorted', { check: (item) => void tagsOf(item).sort() })],
  })
  const inserted = notes.insert({ id: 1, tags: ['z', 'a'] })
  await expect(inserted).rejects.toMatchObject({ code: 'INTERNAL' })
  expect(errors).toEqual([expect.any(TypeError)])
})

test('prepare cannot add values that were not checked', async () => {
  const { notes, errors } = await open({
    events: { Insert: { prepare: ({ values }) => void tagsOf(values).push(Number.NaN) } },
  })
  const inserted = notes.insert({ id: 1, tags: [] })
  await expect(inserted).rejects.toMatchObject({ code: 'INTERNAL' })
  expect(errors).toEqual([expect.any(TypeError)])
})

test('updateMany stores the lists that it was called with', async () => {
  const { notes } = await open({})
  await notes.insert({ id: 1, tags: [] })
  const tags = ['given']
  const updated = notes.updateMany({}, { tags })
  tags.push('later')
  await updated
  expect(await notes.get(1)).toMatchObject({ tags: ['given'] })
})

test('what a before handler changes after it has returned is not stored', async () => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 10))
  const { notes } = await open({
    validations: [error('slow', { check: () => pause().then(() => undefined) })],
    events: {
      Insert: {
        before: ({ item }) => {
          setTimeout(() => {
            item.note = 'longer than five'
          })
        },
      },
    },
  })
  await notes.insert({ id: 1, tags: [], note: 'short' })
  expect(await notes.get(1)).toMatchObject({ note: 'short' })
})

test('a read-only json value may be sent back with its members in another order', async () => {
  const notes = defineCollection({
    key: 'id',
    fields: {
      id: integer(),
      facts: json({ readOnly: true, default: { a: 1, b: [{ c: 2, d: 3 }] } }),
    },
  })
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const client = createTestClient(service)
  await client.post('/desk/notes', { id: 1 })
  const send = async (facts: Json) =>
    (await client.post('/desk/notes/1', { facts })).body.validations
  expect(await send({ b: [{ d: 3, c: 2 }], a: 1 })).toEqual([])
  expect(await send({ b: [{ d: 2, c: 3 }], a: 1 })).toMatchObject([{ field: 'facts' }])
  expect(await send(null)).toMatchObject([{ field: 'facts' }])
  await service.close()
})
