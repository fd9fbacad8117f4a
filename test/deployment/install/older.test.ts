import { expect, test } from 'vitest'
import { installedApplications } from '../../../src/deployment/install/release-folder.ts'
import { installPackage } from '../../../src/deployment/install/install-package.ts'
import { isOlder } from '../../../src/deployment/install/changes.ts'
import { folderOf } from '../../kit/folder.ts'
import { packageWith, releases, textOf } from './packages.ts'

test('an older release replaces a newer one only when that is confirmed', async () => {
  const folder = folderOf()
  const old = await packageWith(releases.first, { version: '1.9' })
  await installPackage(old, { folder })
  await installPackage(await packageWith(releases.second, { version: '1.10' }), { folder })
  const plan = await installPackage(old, { folder, dryRun: true })
  expect(plan.newer).toEqual({ version: '1.10', releaseDate: '2026-03-01T00:00:00' })
  await expect(installPackage(old, { folder })).rejects.toThrow(
    'The package (1.9, 2026-03-01T00:00:00) is older than the installed release (1.10, ',
  )
  expect(textOf(installedApplications(folder))).toBe(textOf(releases.second))
  await installPackage(old, { folder, allowOlder: true })
  expect(textOf(installedApplications(folder))).toBe(textOf(releases.first))
})

test.each([
  ['1.9', '1.10', true],
  ['1.10', '1.9', false],
  ['1.0', '1', false],
  ['1', '1.0.1', true],
  ['v1.2', '1.3', true],
  ['1.0-rc.2', '1.0-rc.10', true],
  ['1.0-rc.1', '1.0', true],
  ['1.0', '1.0-rc.1', false],
  ['1.0+2', '1.0+1', false],
  ['spring', 'autumn', false],
  ['1'.repeat(100), '2'.repeat(101), false],
])('of one date, %s before %s is %s', (one, other, expected) => {
  const releaseDate = '2026-03-01T00:00:00'
  expect(isOlder({ version: one, releaseDate }, { version: other, releaseDate })).toBe(expected)
})

test('an earlier date is older, whatever the versions', () => {
  const one = { version: '2.0', releaseDate: '2026-02-28T23:59:59' }
  const other = { version: 'spring', releaseDate: '2026-03-01T00:00:00' }
  expect([isOlder(one, other), isOlder(other, one)]).toEqual([true, false])
})
