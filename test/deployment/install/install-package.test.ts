import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createService, memoryStorage, openAccess } from '../../../src/entries/index.ts'
import { openDisk } from '../../../src/deployment/install/disk.ts'
import { installedApplications } from '../../../src/deployment/install/release-folder.ts'
import { installOn, installPackage } from '../../../src/deployment/install/install-package.ts'
import { rollback } from '../../../src/deployment/install/rollback.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { folderOf } from '../../kit/folder.ts'
import { packageWith, releases, textOf } from './packages.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const now = () => new Date('2026-03-01T09:30:00Z')

const installed = (folder: string): string => textOf(installedApplications(folder))
const currentOf = (folder: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(folder, 'current.json'), 'utf8')) as Record<string, unknown>

test('a service publishes an installed package, and the result lists the changes', async () => {
  const folder = join(folderOf(), 'deep', 'installed')
  expect(installedApplications(folder)).toEqual({})
  const first = await installPackage(await packageWith(releases.first), { folder, now })
  expect(first).toEqual({
    release: {
      solutionId: 'geo',
      name: 'Geography',
      version: '1.0',
      releaseNotes: 'Günstiger',
      releaseDate: '2026-03-01T00:00:00',
    },
    sha256: first.sha256,
    signature: 'absent',
    changes: [
      { kind: 'added', what: 'application', place: 'geo', options: [] },
      { kind: 'added', what: 'collection', place: 'geo/countries', options: [] },
    ],
    ddl: { sqlite: expect.stringContaining('CREATE TABLE') as string },
    tables: { 'geo/countries': 'countries' },
    code: [],
    newer: null,
    installed: true,
  })
  const second = await installPackage(await packageWith(releases.second), { folder })
  expect(second.changes.map(({ kind, place }) => `${kind} ${place}`)).toEqual(['added geo/cities'])
  expect(installed(folder)).toBe(textOf(releases.second))
  const applications = installedApplications(folder)
  const service = createService({ applications, storage: memoryStorage(), security: openAccess() })
  await service.ready()
  expect(service.serves('/rest/v1/geo/cities')).toBe(true)
  await service.close()
})

test('the same package again changes nothing, and mends what is damaged', async () => {
  const folder = folderOf()
  const bytes = await packageWith(releases.first)
  const { sha256 } = await installPackage(bytes, { folder, now })
  const before = currentOf(folder)
  const file = join(folder, 'releases', sha256, 'definitions.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace('countries', 'counties'))
  rmSync(join(folder, 'releases', sha256, 'ddl'), { recursive: true })
  expect(() => installedApplications(folder)).toThrow(/definitions\.json is missing or was changed/)
  const again = await installPackage(bytes, { folder })
  expect([again.installed, again.changes]).toEqual([false, []])
  expect(currentOf(folder)).toEqual(before)
  expect(installed(folder)).toBe(textOf(releases.first))
  expect(existsSync(join(folder, 'releases', sha256, 'ddl', 'sqlite.sql'))).toBe(true)
})

test('a package other than the damaged one is rejected, and a rollback repairs the folder', async () => {
  const folder = folderOf()
  await installPackage(await packageWith(releases.first), { folder })
  const { sha256 } = await installPackage(await packageWith(releases.second), { folder })
  rmSync(join(folder, 'releases', sha256, 'manifest.json'))
  const third = await packageWith(releases.third)
  await expect(installPackage(third, { folder })).rejects.toThrow(
    /Install its package again, or roll/,
  )
  await rollback(folder)
  expect(installed(folder)).toBe(textOf(releases.first))
})

test.each([
  ['no JSON', '{'],
  ['another form', '{"format":2}'],
  ['a way out', JSON.stringify({ format: 1, current: { package: '../../x', manifest: 'y' } })],
])('a current.json with %s is rejected', async (_, text) => {
  const folder = folderOf({ 'current.json': text })
  expect(() => installedApplications(folder)).toThrow('current.json in the folder of the releases')
  await expect(installPackage(await packageWith(releases.first), { folder })).rejects.toThrow(
    'again',
  )
  expect(readdirSync(folder)).not.toContain('releases')
})

describe('a package that cannot be trusted changes nothing', () => {
  const reject = async (bytes: Uint8Array, message: string | RegExp, trust?: readonly [string]) => {
    const folder = join(folderOf(), 'installed')
    const options = { folder, ...(trust && { trust }) }
    await expect(installPackage(bytes, options)).rejects.toThrow(message)
    expect(existsSync(folder)).toBe(false)
  }
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()

  test('one byte is wrong', async () => {
    const bytes = Buffer.from(await packageWith(releases.first))
    bytes[200] = (bytes[200] ?? 0) ^ 1
    await reject(bytes, 'is damaged')
  })
  test('it is not a package', () => reject(Buffer.from('PK'), 'is not an archive'))
  test('it is not signed', async () =>
    reject(await packageWith(releases.first), 'is not signed', [pem]))
  test('the signature has another key', async () => {
    const sign = generateKeyPairSync('ed25519').privateKey
    await reject(await packageWith(releases.first, { sign }), 'not a signature by a trusted', [pem])
  })
  test('and the right signature is right', async () => {
    const folder = folderOf()
    const bytes = await packageWith(releases.first, { sign: privateKey })
    const { signature } = await installPackage(bytes, { folder, trust: [pem] })
    expect(signature).toBe('verified')
  })
})

test('a dry run has the same result, and writes nothing', async () => {
  const folder = join(folderOf(), 'installed')
  const bytes = await packageWith(releases.first)
  const plan = await installPackage(bytes, { folder, dryRun: true })
  expect(existsSync(folder)).toBe(false)
  expect(plan.installed).toBe(false)
  expect({ ...plan, installed: true }).toEqual(await installPackage(bytes, { folder }))
})

test('tables that do not fit leave the old release as it was', async () => {
  const folder = folderOf()
  const database = join(folderOf(), 'data.db')
  const storage = () => sqliteStorage(database, { ensureSchema: true })
  await installPackage(await packageWith(releases.first), { folder, storage: storage() })
  const { countries } = releases.first.geo.collections
  const wider = {
    ...countries,
    fields: { ...countries.fields, area: { type: 'integer' } as const },
  }
  const bytes = await packageWith({ geo: { collections: { countries: wider } } })
  await expect(installPackage(bytes, { folder, storage: storage() })).rejects.toThrow(
    'ALTER TABLE "countries" ADD COLUMN "area"',
  )
  expect(installed(folder)).toBe(textOf(releases.first))
  expect(readdirSync(folder)).toEqual(['current.json', 'releases'])
  expect((await installPackage(bytes, { folder })).installed).toBe(true)
})

test('everything is on disk before it counts', async () => {
  const steps: string[] = []
  const folder = folderOf()
  const disk = openDisk((step) => steps.push(step.replaceAll(folder, '')))
  const { sha256 } = await installOn(disk, await packageWith(releases.first), { folder })
  const fresh = `/releases/.new-${sha256}`
  const at = (step: string): number => {
    expect(steps).toContain(step)
    return steps.indexOf(step)
  }
  const placed = at(`rename ${fresh} /releases/${sha256}`)
  const written = steps.filter((step) => step.startsWith(`open ${fresh}`))
  expect(written).toHaveLength(3)
  for (const step of written) expect(at(step.replace('open', 'sync'))).toBeLessThan(placed)
  for (const path of ['', '/ddl']) expect(at(`sync ${fresh}${path}`)).toBeLessThan(placed)
  const counts = at('rename /.new-current.json /current.json')
  expect(at('sync /releases')).toBeGreaterThan(placed)
  expect(at('sync /releases')).toBeLessThan(counts)
  expect(at('sync /.new-current.json')).toBeLessThan(counts)
  expect(steps.lastIndexOf('sync ')).toBe(counts + 1)
})
