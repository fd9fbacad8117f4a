import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defineCollection, text, type ApplicationDefinitions } from '../../../src/entries/index.ts'
import { installedApplications } from '../../../src/deployment/install/release-folder.ts'
import { installPackage } from '../../../src/deployment/install/install-package.ts'
import { startTimeOf } from '../../../src/deployment/install/lock.ts'
import { readState } from '../../../src/deployment/install/installed-state.ts'
import { rollback } from '../../../src/deployment/install/rollback.ts'
import { folderOf } from '../../kit/folder.ts'
import { packageWith, releases, textOf } from './packages.ts'

const installed = (folder: string): string => textOf(installedApplications(folder))

async function folderWith(...all: readonly ApplicationDefinitions[]): Promise<string> {
  const folder = folderOf()
  for (const [at, applications] of all.entries()) {
    const version = `${at + 1}.0`
    await installPackage(await packageWith(applications, { version }), { folder })
  }
  return folder
}

const many: readonly ApplicationDefinitions[] = Array.from({ length: 8 }, (_, at) => ({
  geo: {
    collections: { [`rivers${at}`]: defineCollection({ key: 'id', fields: { id: text() } }) },
  },
}))

test('a rollback goes one release back each time, and not beyond the first', async () => {
  const folder = await folderWith(releases.first, releases.second, releases.third)
  const one = await rollback(folder, { now: () => new Date('2026-03-01T09:30:00Z') })
  expect(one.release).toMatchObject({ solutionId: 'geo', version: '2.0' })
  expect(installed(folder)).toBe(textOf(releases.second))
  expect(readState(folder)?.installed).toBe('2026-03-01T09:30:00.000Z')
  const two = await rollback(folder)
  expect([two.release.version, two.replaced]).toEqual(['1.0', one.sha256])
  await expect(rollback(folder)).rejects.toThrow('There is no previous release')
  expect(installed(folder)).toBe(textOf(releases.first))
  expect(readdirSync(folder)).toEqual(['current.json', 'releases'])
})

test('a folder without a release has nothing to go back to, and is left alone', async () => {
  const folder = folderOf()
  await expect(rollback(folder)).rejects.toThrow('Nothing is installed')
  await expect(rollback(join(folder, 'typo'))).rejects.toThrow('Nothing is installed')
  expect(readdirSync(folder)).toEqual([])
})

test('a release that was damaged is not gone back to', async () => {
  const folder = await folderWith(releases.first, releases.second)
  const [before] = readState(folder)?.previous ?? []
  const file = join(folder, 'releases', before?.package ?? '', 'ddl', 'sqlite.sql')
  writeFileSync(file, 'DROP TABLE countries;')
  await expect(rollback(folder)).rejects.toThrow('ddl/sqlite.sql is missing or was changed')
  expect(installed(folder)).toBe(textOf(releases.second))
})

test('the release that was gone back from can be installed again', async () => {
  const folder = await folderWith(releases.first, releases.second)
  await rollback(folder)
  await installPackage(await packageWith(releases.second, { version: '2.0' }), { folder })
  expect(installed(folder)).toBe(textOf(releases.second))
  expect((await rollback(folder)).release.version).toBe('1.0')
})

test('five releases are kept besides the current one, and nothing that was put there by others', async () => {
  const folder = await folderWith(...many.slice(0, 4))
  writeFileSync(join(folder, 'releases', 'README'), 'mine')
  for (const applications of many.slice(4))
    await installPackage(await packageWith(applications, { version: '5.0' }), { folder })
  const state = readState(folder)
  const kept = [state?.current, ...(state?.previous ?? [])].map((each) => each?.package)
  expect(kept).toHaveLength(6)
  expect(readdirSync(join(folder, 'releases')).sort()).toEqual([...kept, 'README'].sort())
  for (let back = 6; back >= 2; back--) {
    await rollback(folder)
    expect(installed(folder)).toBe(textOf(many[back] ?? {}))
  }
  await expect(rollback(folder)).rejects.toThrow('no previous release')
})

test('each of several installs at once completes, or fails with the id of the process that holds the lock', async () => {
  const folder = folderOf()
  const packages = await Promise.all(many.map((applications) => packageWith(applications)))
  const ends = await Promise.allSettled(packages.map((bytes) => installPackage(bytes, { folder })))
  const rejected = ends.filter((end) => end.status === 'rejected')
  for (const { reason } of rejected)
    expect(String(reason)).toContain(`is in progress in this folder (process ${process.pid})`)
  const state = readState(folder)
  const count = 1 + (state?.previous.length ?? 0)
  expect(count).toBe(Math.min(6, many.length - rejected.length))
  expect(many.map(textOf)).toContain(installed(folder))
  expect(readdirSync(folder)).toEqual(['current.json', 'releases'])
})

test('the lock of a running process is respected, the lock of an ended process is not', async () => {
  const folder = await folderWith(releases.first)
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const uuid = '0192c7a0-0000-7000-8000-000000000000'
  writeFileSync(join(folder, `.lock-${pid}-${startTimeOf(pid)}-${uuid}`), '')
  // A process that had the same number before is dead, too.
  writeFileSync(join(folder, `.lock-${process.pid}-1-${uuid}`), '')
  const bytes = await packageWith(releases.second)
  await expect(installPackage(bytes, { folder })).rejects.toThrow(`(process ${pid})`)
  expect(installed(folder)).toBe(textOf(releases.first))
  const ended = once(child, 'close')
  child.kill('SIGKILL')
  await ended
  await installPackage(bytes, { folder })
  expect(installed(folder)).toBe(textOf(releases.second))
  expect(readdirSync(folder)).toEqual(['current.json', 'releases'])
})

test.each([
  ['.lock-0-0-0192c7a0-1c00-7000-8000-5f1f5f1f0d10', true],
  ['.lock-9999999999-0-0192c7a0-1c00-7000-8000-5f1f5f1f0d10', true],
  ['.lock-1-99999999999999999999-0192c7a0-1c00-7000-8000-5f1f5f1f0d10', true],
  ['.lock-x-0-0192c7a0-1c00-7000-8000-5f1f5f1f0d10', false],
  ['.lock', false],
])('the file %s of no process locks nothing', async (name, isRemoved) => {
  const folder = await folderWith(releases.first, releases.second)
  writeFileSync(join(folder, name), 'x')
  await rollback(folder)
  expect(readdirSync(folder).includes(name)).toBe(!isRemoved)
})

test.each([
  '',
  'null',
  '[]',
  '{"format": 2}',
  `{"format":1,"current":null,"previous":[],"installed":"2026-03-01T09:30:00.000Z"}`,
  `{"format":1,"current":{"package":"../..","manifest":"x"},"previous":[],"installed":"2026-03-01T09:30:00.000Z"}`,
  '['.repeat(60_000),
  'x'.repeat(100_000),
])('an installed state that another program has written is an InstallError: %s', async (text) => {
  const folder = await folderWith(releases.first)
  writeFileSync(join(folder, 'current.json'), text)
  expect(() => installedApplications(folder)).toThrow(
    'current.json in the folder of the releases is invalid',
  )
  await expect(rollback(folder)).rejects.toThrow('current.json')
})
