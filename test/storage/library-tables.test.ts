import { expect, test } from 'vitest'
import { getDelivery, listDeliveries } from '../../src/consume/outbox/administration.ts'
import { publishedReleases } from '../../src/deployment/published-releases.ts'
import { ReleaseStore } from '../../src/deployment/release-store.ts'
import { recordKeyEvent } from '../../src/security/audit.ts'
import {
  StorageError,
  type StorageAdapter,
  type StorageTransaction,
} from '../../src/storage/adapter.ts'
import { memoryStorage } from '../../src/storage/memory/memory.ts'

// A database whose role may use no table.
const forbid = (): Promise<never> => Promise.reject(new StorageError('forbidden'))
const transaction: StorageTransaction = {
  filter: forbid,
  insert: forbid,
  update: forbid,
  delete: forbid,
}
const storage: StorageAdapter = {
  ...memoryStorage(),
  filter: forbid,
  transaction: async (_, work) => work(transaction),
}

const id = '00000000-0000-4000-8000-000000000000'
const at = new Date(0)
const store = new ReleaseStore(storage, () => Promise.resolve())
const page = {
  ...{ conditions: {}, where: undefined, search: undefined, sort: [], limit: 1, offset: 0 },
  ...{ count: false, fields: [] },
}

test.each<readonly [string, () => Promise<unknown>]>([
  ['the list of deliveries', () => listDeliveries(storage, {})],
  ['a delivery', () => getDelivery(storage, id)],
  ['the list of releases', () => publishedReleases(storage, store).page(page)],
  ['a package', () => store.file(id)],
  [
    'an event of a key',
    () =>
      recordKeyEvent(transaction, { keyId: id, user: 'u', provider: id }, { event: 'created' }, at),
  ],
])('%s that the database does not let its role use is no fault of a client', async (_, work) => {
  const error = await work().catch((reason: unknown) => reason)
  expect(error).not.toBeInstanceOf(StorageError)
  expect(String(error)).toBe('Error: The database does not let its role use a table of rowgate.')
})
