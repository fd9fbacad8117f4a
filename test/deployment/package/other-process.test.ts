import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { writePackage } from '../../../src/deployment/package/write-package.ts'
import { sha256 } from './archives.ts'
import { jobOf } from './release.ts'

const run = promisify(execFile)

test('another time zone and another language give the same bytes', async () => {
  const archive = await writePackage(jobOf())
  const program = fileURLToPath(new URL('write-one.ts', import.meta.url))
  const places = [
    ['Pacific/Kiritimati', 'tr_TR.UTF-8'],
    ['America/St_Johns', 'C'],
  ] as const
  const outputs = places.map(([TZ, locale]) => {
    const env = { PATH: process.env['PATH'], TZ, LANG: locale, LC_ALL: locale }
    return run(process.execPath, ['--import', 'tsx', program], { env })
  })
  for (const [index, { stdout, stderr }] of (await Promise.all(outputs)).entries()) {
    expect(stderr).toBe('')
    expect(stdout).toBe(`${places[index]?.[0] ?? ''} ${sha256(archive)}\n`)
  }
}, 60_000)
