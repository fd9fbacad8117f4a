import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  text,
  type ApplicationDefinitions,
} from '../../src/entries/index.ts'
import { oddObjects } from '../kit/odd-objects.ts'

const fields = { id: integer(), title: text() } as const
const notes = defineCollection({ key: 'id', fields })
// A module that is imported as a whole has accessors.
const isOfMembers = /symbol|not enumerable|accessor|can be awaited/

async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
    return undefined
  } catch (error) {
    return error
  }
}

/** Where a definition has objects. */
const parts: Readonly<Record<string, (given: never) => unknown>> = {
  applications: (given) => given,
  application: (desk) => ({ desk }),
  collections: (collections) => ({ desk: { collections } }),
  collection: (given) => ({ desk: { collections: { notes: given } } }),
  fields: (given) => inNotes({ fields: given }),
  'a field': (title) => inNotes({ fields: { ...fields, title } }),
  rows: (rows) => inNotes({ rows }),
  'rows.equal': (equal) => inNotes({ rows: { equal } }),
  'rows.where': (where) => inNotes({ rows: { where } }),
  'a condition': (title) => inNotes({ rows: { where: { title } } }),
  'a group': (given) => inNotes({ rows: { where: { or: [{ id: 1 }, given] } } }),
  events: (events) => inNotes({ events }),
  handlers: (given) => inNotes({ events: { Insert: given } }),
  serve: (given) => inNotes({ serve: given }),
  'user-defined events': (userDefinedEvents) => inNotes({ userDefinedEvents }),
  'a validation': (given) => inNotes({ validations: [given] }),
  pageSize: (pageSize) => inNotes({ pageSize }),
  eventRoles: (eventRoles) => inNotes({ eventRoles }),
  computed: (given) => inNotes({ computed: given }),
  'a computed field': (given) =>
    inNotes({ computed: { label: { field: given, needs: ['id'], compute: () => 1 } } }),
}
const inNotes = (part: object) => ({ desk: { collections: { notes: { ...notes, ...part } } } })

test.each(Object.entries(parts))('%s of a definition are plain objects', async (name, part) => {
  for (const [what, given, found] of oddObjects) {
    if (isOfMembers.test(what)) continue
    const failure = await failureOf(() =>
      createService({
        applications: part(given as never) as ApplicationDefinitions,
        storage: memoryStorage(),
        security: openAccess(),
      }),
    )
    expect(failure, `${name} of ${what}`).toBeInstanceOf(TypeError)
    expect(String(failure)).toContain(found.replace(/\.$/, ''))
  }
})
