import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  openAccess,
  system,
  text,
} from '../../../src/entries/index.ts'
import { openDisk } from '../../../src/deployment/install/disk.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { temporaryFolder } from '../../kit/storages.ts'

const notes = defineCollection({ key: 'title', fields: { title: text() } })

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}

test('a database file and its journal files are created for their user only', async () => {
  const folder = temporaryFolder()
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: sqliteStorage(join(folder, 'data.db'), { ensureSchema: true }),
    security: openAccess(),
  })
  await service.ready()
  await service.as(system).collection('desk', 'notes').insert({ title: 'Milk' })
  const names = readdirSync(folder)
  expect(names.toSorted()).toEqual(['data.db', 'data.db-shm', 'data.db-wal'])
  expect(names.map((name) => modeOf(join(folder, name)))).toEqual([0o600, 0o600, 0o600])
  await service.close()
})

test('the permissions of an existing database file are kept', async () => {
  const file = join(temporaryFolder(), 'data.db')
  const open = () => sqliteStorage(file, { ensureSchema: true })
  await open().close()
  chmodSync(file, 0o640)
  await open().close()
  expect(modeOf(file)).toBe(0o640)
})

test('folders and files of a release are created for their user only', async () => {
  const folder = join(temporaryFolder(), 'releases', 'one')
  const disk = openDisk()
  await disk.makeFolder(folder)
  await disk.writeFile(join(folder, 'file'), new Uint8Array([1]))
  expect([join(folder, '..'), folder].map(modeOf)).toEqual([0o700, 0o700])
  expect(modeOf(join(folder, 'file'))).toBe(0o600)
})
