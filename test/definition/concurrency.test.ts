import { expect, test } from 'vitest'
import {
  createService,
  integer,
  json,
  memoryStorage,
  openAccess,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'

const fields = {
  id: integer(),
  title: text(),
  data: json({ required: true }),
  revision: integer({ required: true, default: 0 }),
  secret: integer({ required: true, default: 0, readableBy: ['Chief'] }),
}

/** Returns the mistakes of a collection with this option, without their place. */
function mistakesOf(concurrency: unknown, others: object = {}): string {
  const notes = { key: 'id', fields, concurrency, ...others } as CollectionDefinition
  try {
    createService({
      applications: { app: { collections: { notes } } },
      storage: memoryStorage(),
      security: openAccess(),
    })
    return ''
  } catch (error) {
    return (error as Error).message.replaceAll('applications.app.collections.notes.', '')
  }
}

const start = 'The configuration has mistakes:\n  - '

test.each([
  [{ ifMatch: 'optional' }],
  [{ ifMatch: 'required' }],
  [{ ifMatch: 'required', version: 'revision' }],
])('%j is accepted', (concurrency) => {
  expect(mistakesOf(concurrency)).toBe('')
})

test.each([
  [{}, 'concurrency.ifMatch: '],
  [{ ifMatch: 'always' }, 'concurrency.ifMatch: must be one of optional, required'],
  ['required', 'concurrency: '],
  [{ ifMatch: 'required', versions: 1 }, 'concurrency.versions: '],
  [
    { ifMatch: 'required', version: 'revisions' },
    'concurrency.version: revisions is not a field; the fields are id, title, data, revision, secret',
  ],
  [
    { ifMatch: 'required', version: 'data' },
    'concurrency.version: a json field like data cannot be a version',
  ],
  [
    { ifMatch: 'required', version: 'title' },
    'concurrency.version: title must be required: items without a version could not be distinguished',
  ],
  [
    { ifMatch: 'required', version: 'secret' },
    'concurrency.version: secret cannot be used here: some callers of Filter cannot read it (readableBy)',
  ],
])('%j is a mistake', (concurrency, mistake) => {
  expect(mistakesOf(concurrency)).toContain(start + mistake)
})

test('the version may be a field that each caller of Filter can read', () => {
  const concurrency = { ifMatch: 'required', version: 'secret' }
  expect(mistakesOf(concurrency, { eventRoles: { Filter: ['Chief'] } })).toBe('')
})
