import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installedApplications } from '../../../src/deployment/install/release-folder.ts'
import { installPackage } from '../../../src/deployment/install/install-package.ts'
import { rollback } from '../../../src/deployment/install/rollback.ts'
import { folderOf } from '../../kit/folder.ts'
import { packageWith, releases, textOf } from './packages.ts'

/** An installed release, and a folder outside of it. */
async function begin() {
  const folder = folderOf()
  const outside = folderOf({ 'sqlite.sql': 'mine', 'definitions.json': 'mine' })
  const bytes = await packageWith(releases.first)
  const { sha256 } = await installPackage(bytes, { folder })
  return { folder, outside, bytes, place: join(folder, 'releases', sha256) }
}

test('a folder of the release that is replaced by a symbolic link is not written through', async () => {
  const { folder, outside, bytes, place } = await begin()
  rmSync(join(place, 'ddl'), { recursive: true })
  symlinkSync(outside, join(place, 'ddl'))
  await installPackage(bytes, { folder })
  expect(readFileSync(join(outside, 'sqlite.sql'), 'utf8')).toBe('mine')
  expect(readFileSync(join(place, 'ddl/sqlite.sql'), 'utf8')).toContain('CREATE TABLE')
})

test('a release that is replaced by a symbolic link is not written through', async () => {
  const { folder, outside, bytes, place } = await begin()
  rmSync(place, { recursive: true })
  symlinkSync(outside, place)
  expect(() => installedApplications(folder)).toThrow('is missing or was changed')
  await installPackage(bytes, { folder })
  expect(readFileSync(join(outside, 'definitions.json'), 'utf8')).toBe('mine')
  expect(textOf(installedApplications(folder))).toBe(textOf(releases.first))
})

test('a file that is a symbolic link is not read, even to the same content', async () => {
  const { folder, outside, bytes, place } = await begin()
  renameSync(join(place, 'definitions.json'), join(outside, 'same.json'))
  symlinkSync(join(outside, 'same.json'), join(place, 'definitions.json'))
  expect(() => installedApplications(folder)).toThrow('definitions.json is missing or was changed')
  const content = readFileSync(join(outside, 'same.json'), 'utf8')
  await installPackage(bytes, { folder })
  expect(readFileSync(join(outside, 'same.json'), 'utf8')).toBe(content)
  rmSync(join(outside, 'same.json'))
  expect(textOf(installedApplications(folder))).toBe(textOf(releases.first))
})

test('a folder in the place of a file is replaced', async () => {
  const { folder, bytes, place } = await begin()
  rmSync(join(place, 'definitions.json'))
  mkdirSync(join(place, 'definitions.json', 'deep'), { recursive: true })
  await installPackage(bytes, { folder })
  expect(textOf(installedApplications(folder))).toBe(textOf(releases.first))
})

test('the folder of the releases must not be a symbolic link', async () => {
  const folder = folderOf()
  const outside = folderOf()
  symlinkSync(outside, join(folder, 'releases'))
  await expect(installPackage(await packageWith(releases.first), { folder })).rejects.toThrow(
    'releases in the folder of the releases is a symbolic link',
  )
  expect(existsSync(join(folder, 'current.json'))).toBe(false)
})

test('current.json must not be a symbolic link', async () => {
  const { folder, outside } = await begin()
  renameSync(join(folder, 'current.json'), join(outside, 'current.json'))
  symlinkSync(join(outside, 'current.json'), join(folder, 'current.json'))
  expect(() => installedApplications(folder)).toThrow('current.json in the folder of the releases')
})

test('a rollback does not go back to a release behind a symbolic link', async () => {
  const { folder, outside, place } = await begin()
  await installPackage(await packageWith(releases.second, { version: '2.0' }), { folder })
  renameSync(place, join(outside, 'moved'))
  symlinkSync(join(outside, 'moved'), place)
  await expect(rollback(folder)).rejects.toThrow('is missing or was changed')
})

test('the folder itself may be reached through a symbolic link', async () => {
  const parent = folderOf()
  mkdirSync(join(parent, 'real'))
  symlinkSync(join(parent, 'real'), join(parent, 'link'))
  const folder = join(parent, 'link')
  await installPackage(await packageWith(releases.first), { folder })
  expect(textOf(installedApplications(folder))).toBe(textOf(releases.first))
  writeFileSync(join(parent, 'real', 'current.json'), '{}')
  expect(() => installedApplications(folder)).toThrow('current.json')
})
