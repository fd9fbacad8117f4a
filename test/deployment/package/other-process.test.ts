import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { writePackage } from '../../../src/deployment/package/write-package.ts'
import { sha256 } from './archives.ts'
import { jobOf } from './release.ts'

test('another time zone and another language give the same bytes', async () => {
  const archive = await writePackage(jobOf())
  const program = fileURLToPath(new URL('write-one.ts', import.meta.url))
  for (const [TZ, locale] of [
    ['Pacific/Kiritimati', 'tr_TR.UTF-8'],
    ['America/St_Johns', 'C'],
  ]) {
    const env = { PATH: process.env['PATH'], TZ, LANG: locale, LC_ALL: locale }
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', program], { env })
    expect(stderr.toString()).toBe('')
    expect(stdout.toString()).toBe(`${TZ ?? ''} ${sha256(archive)}\n`)
  }
}, 60_000)
