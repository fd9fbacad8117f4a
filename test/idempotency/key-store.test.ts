import { expect, test } from 'vitest'
import { anonymous, defineCollection, integer, principal } from '../../src/entries/index.ts'
import { publishCollection } from '../../src/entries/storage.ts'
import { keyTables } from '../../src/idempotency/collections.ts'
import { keyedRequest, type KeyedParts } from '../../src/idempotency/keyed-request.ts'
import { KeyStore } from '../../src/idempotency/key-store.ts'
import { viewOf } from '../../src/request/view.ts'
import { allRows, openStorage, storages } from '../kit/storages.ts'

const notes = publishCollection(
  'app',
  'notes',
  defineCollection({ key: 'id', fields: { id: integer() } }),
)
const maria = principal('maria')
const parts: KeyedParts = {
  key: 'k',
  brand: 'svc',
  request: { method: 'POST', header: () => undefined },
  target: '/rest/v1/app/notes?',
  ignoredWarnings: undefined,
  bytes: new TextEncoder().encode('{}'),
  view: viewOf(notes, maria),
  principal: maria,
  options: { keepFor: 60_000, maxKeys: 10, maxBytes: 1000 },
}

test.each(storages)('on $name, keys are removed when they have expired', async (on) => {
  let now = 0
  const storage = openStorage(on)
  const tables = keyTables(storage, [notes])
  await storage.open(tables.all)
  const store = new KeyStore({ storage, tables, now: () => new Date(now) })
  const reply = { status: 200, headers: {}, body: '{}' }
  const add = async (key: string) =>
    store.add(await keyedRequest({ ...parts, key }), undefined, reply)
  for (let index = 0; index < 410; index++) await add(`old ${index}`)
  now = 30_000
  for (let index = 0; index < 3; index++) await add(`new ${index}`)
  const [table] = tables.all
  const count = async () => (table === undefined ? 0 : (await allRows(storage, table)).length)
  await store.clean()
  expect(await count()).toBe(413)
  now = 60_000
  await store.clean()
  expect(await count()).toBe(3)
  now = 90_000
  await store.clean()
  expect(await count()).toBe(0)
  await storage.close()
})

test('what the digests of a request depend on', async () => {
  const of = async (changes: Partial<KeyedParts> = {}) => keyedRequest({ ...parts, ...changes })
  const first = await of()
  const changed = async (changes: Partial<KeyedParts>) => {
    const other = await of(changes)
    return (['id', 'owner', 'request', 'view'] as const).filter(
      (name) => other[name] !== first[name],
    )
  }
  expect(await changed({})).toEqual([])
  expect(await changed({ key: 'l' })).toEqual(['id'])
  expect(await changed({ brand: 'acme' })).toEqual(['id', 'owner'])
  expect(await changed({ principal: principal('ann') })).toEqual(['id', 'owner'])
  expect(await changed({ principal: anonymous })).toEqual(['id', 'owner'])
  // The roles and the API key of a user do not matter.
  expect(await changed({ principal: principal('maria', { roles: ['A'], keyId: 'b' }) })).toEqual([])
  expect(await changed({ target: '/rest/v1/app/notes/1?' })).toEqual(['request'])
  expect(await changed({ request: { ...parts.request, method: 'DELETE' } })).toEqual(['request'])
  expect(await changed({ bytes: undefined })).toEqual(['request'])
  expect(await changed({ bytes: new TextEncoder().encode('\uFEFF{}') })).toEqual(['request'])
  expect(await changed({ ignoredWarnings: '"a"' })).toEqual(['request'])
  const condition = { is: 'equal', field: 'id', value: 1 } as const
  const through = { is: 'through', collection: notes, fields: ['id'], conditions: [] } as const
  for (const rows of [[condition], [through]])
    expect(await changed({ view: { ...parts.view, rows } })).toEqual(['view'])
})
