import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  system,
  text,
  type Handlers,
  type Observation,
} from '../../src/entries/index.ts'

const fields = { noteId: integer(), title: text({ maxLength: 20 }) }
interface Shape {
  readonly fields: typeof fields
  readonly key: 'noteId'
}

function open(events: Handlers<Shape>) {
  const reports: Observation[] = []
  const notes = defineCollection({ key: 'noteId', fields }, { events })
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: openAccess(),
    report: (one) => reports.push(one),
  })
  return { service, notes: service.as(system).collection('desk', 'notes'), reports }
}

test.each(['sync', 'async'])(
  'Save runs for Insert and Update, before their own: %s',
  async (way) => {
    const seen: string[] = []
    const note = (word: string) => (event: { readonly event: string }) => {
      seen.push(`${word} ${event.event}`)
    }
    const later = (word: string) => async (event: { readonly event: string }) => {
      await Promise.resolve()
      seen.push(`${word} ${event.event}`)
    }
    const shared = way === 'sync' ? note : later
    const { service, notes } = open({
      Save: {
        before: shared('Save.before'),
        after: shared('Save.after'),
        committed: shared('Save.committed'),
      },
      Insert: {
        before: note('Insert.before'),
        after: note('Insert.after'),
        committed: note('Insert.committed'),
      },
    })
    await notes.insert({ noteId: 1, title: 'a' })
    await notes.update(1, { title: 'b' })
    await notes.delete(1)
    await service.close()
    expect(seen.filter((one) => one.endsWith('Insert'))).toEqual([
      'Save.before Insert',
      'Insert.before Insert',
      'Save.after Insert',
      'Insert.after Insert',
      'Save.committed Insert',
      'Insert.committed Insert',
    ])
    expect(seen.filter((one) => one.endsWith('Update'))).toEqual([
      'Save.before Update',
      'Save.after Update',
      'Save.committed Update',
    ])
    expect(seen.filter((one) => one.endsWith('Delete'))).toEqual([])
  },
)

test('Save may change and reject the item; what it rejects is not seen by Insert', async () => {
  let calls = 0
  const { notes } = open({
    Save: {
      before: (event) => {
        if (event.item.title === 'no') event.reject('Not this.', 'title')
        event.item.title = event.stored === null ? 'new' : 'changed'
      },
    },
    Insert: {
      before: () => {
        calls += 1
      },
    },
  })
  expect(await notes.insert({ noteId: 1, title: 'x' })).toMatchObject({ item: { title: 'new' } })
  expect(await notes.update(1, { title: 'y' })).toMatchObject({ item: { title: 'changed' } })
  expect(await notes.insert({ noteId: 2, title: 'no' })).toMatchObject({ rejected: true })
  expect(calls).toBe(1)
})

test('a committed handler of Save that fails is reported, and the handler of Insert runs', async () => {
  let calls = 0
  const { service, notes, reports } = open({
    Save: {
      committed: () => {
        throw new Error('The mailer is down.')
      },
    },
    Insert: {
      committed: () => {
        calls += 1
      },
    },
  })
  await notes.insert({ noteId: 1, title: 'x' })
  await service.close()
  expect(calls).toBe(1)
  expect(reports).toMatchObject([{ type: 'committed-handler-failed', place: { event: 'Insert' } }])
})

test.each(['Insert', 'Update'] as const)(
  'a field that a handler of %s deletes from the item is stored as null',
  async (event) => {
    const { service, notes } = open({
      [event]: {
        before: ({ item }: { readonly item: { title?: string | null } }) => {
          delete item.title
        },
      },
    })
    await notes.insert({ noteId: 1, title: 'a' })
    await notes.update(1, { title: 'b' })
    expect(await notes.get(1)).toEqual({ noteId: 1, title: event === 'Insert' ? 'b' : null })
    await service.close()
  },
)

test.each(['noteId', 'all'])(
  'a before handler that changes the key of a stored item: %s',
  async (which) => {
    const { notes, reports } = open({
      Save: {
        before: ({ item, stored }) => {
          if (stored === null) return
          if (which === 'noteId') item.noteId = 2
          else for (const name of Object.keys(item)) Reflect.deleteProperty(item, name)
        },
      },
    })
    await notes.insert({ noteId: 1, title: 'a' })
    await expect(notes.update(1, { title: 'b' })).rejects.toMatchObject({
      cause: {
        message: "The field noteId is part of the key of a stored item, which can't change.",
      },
    })
    expect(reports).toMatchObject([{ type: 'handler-failed' }])
    expect(await notes.get(1)).toEqual({ noteId: 1, title: 'a' })
    expect(await notes.get(2)).toBeUndefined()
  },
)
