import { expect, test } from 'vitest'
import { createClient, RequestError } from '../../src/entries/client.ts'
import { defineCollection, integer, text, warning } from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { serveDuringTest } from '../kit/server.ts'
import { openStage } from '../kit/stage.ts'

const fields = { id: integer(), title: text() }
const notes = defineCollection(
  { key: 'id', fields, concurrency: { ifMatch: 'required' } },
  {
    validations: [
      warning('odd', {
        field: 'title',
        check: ({ title }) => (title === 'odd' ? 'Is it odd?' : undefined),
      }),
    ],
  },
)
const plain = defineCollection({ key: 'id', fields })

async function openNotes() {
  const { service } = openStage({ notes, plain })
  const sent: (string | undefined)[] = []
  const handler = toNodeHandler(service)
  const url = await serveDuringTest((request, response) => {
    sent.push(request.headers['if-match'])
    handler(request, response)
  })
  const client = createClient<typeof service>({ url })
  return {
    sent,
    notes: client.collection('app', 'notes'),
    plain: client.collection('app', 'plain'),
  }
}

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  const error: unknown = await call.catch((thrown: unknown) => thrown)
  return error instanceof RequestError ? [error.code, error.status, error.isTemporary] : error
}

test('results and tagged items have the tag of their version', async () => {
  const open = await openNotes()
  const inserted = await open.notes.insert({ id: 1, title: 'a' })
  const tag = inserted.rejected ? undefined : inserted.etag
  expect(tag).toMatch(/^"[0-9a-f]{32}"$/)
  expect(await open.notes.getTagged(1)).toEqual({ item: { id: 1, title: 'a' }, etag: tag })
  expect(await open.notes.getTagged(2)).toBeUndefined()
  expect(await open.plain.insert({ id: 1 })).not.toHaveProperty('etag')
  expect(await open.plain.getTagged(1)).toEqual({ item: { id: 1, title: null }, etag: undefined })
})

test('an update and a delete change the version that ifMatch names only', async () => {
  const open = await openNotes()
  await open.notes.insert({ id: 1, title: 'a' })
  const etag = (await open.notes.getTagged(1))?.etag as string
  const updated = await open.notes.update(1, { title: 'b' }, { ifMatch: etag })
  expect(updated).toMatchObject({ rejected: false, item: { title: 'b' } })
  const failed = ['PRECONDITION_FAILED', 412, false]
  expect(await codeOf(open.notes.update(1, { title: 'c' }, { ifMatch: etag }))).toEqual(failed)
  expect(await codeOf(open.notes.delete(1, { ifMatch: etag }))).toEqual(failed)
  const missing = ['PRECONDITION_REQUIRED', 428, false]
  expect(await codeOf(open.notes.update(1, { title: 'c' }))).toEqual(missing)
  expect(await open.notes.delete(1, { ifMatch: '*' })).toMatchObject({ rejected: false })
  expect(await open.notes.update(1, {}, { ifMatch: etag })).toBeUndefined()
})

test('a confirmation sends the same tag again', async () => {
  const open = await openNotes()
  await open.notes.insert({ id: 1, title: 'a' })
  const ifMatch = (await open.notes.getTagged(1))?.etag as string
  open.sent.length = 0
  const asked = await open.notes.update(1, { title: 'odd' }, { ifMatch })
  expect(asked?.rejected).toBe(true)
  const confirmed = await open.notes.confirm(asked as { readonly rejected: true })
  expect(confirmed).toMatchObject({ rejected: false, item: { title: 'odd' } })
  const etag = confirmed?.rejected === false ? (confirmed.etag as string) : ''
  await open.notes.update(1, { title: 'odd' }, { ifMatch: etag, ignoreWarnings: 'all' })
  expect(open.sent).toEqual([ifMatch, ifMatch, etag, etag])
})
