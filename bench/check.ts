import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOf } from './build.ts'
import { figuresFrom } from './server-process.ts'
import type { CheckFigures } from './servers/check.ts'

/** The name by which `--only` selects the check of a million rows. */
export const check = 'check'

/** Measures `service.inspect()` on a million rows of ten columns in other forms, with a reference. */
export async function measureCheck(program = programOf(check)): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rowgate-check-'))
  try {
    const { milliseconds, problems } = (await figuresFrom(program, [
      join(folder, 'data.db'),
    ])) as CheckFigures
    const line = `| ${(milliseconds / 1000).toFixed(1)} s | ${problems} |`
    console.log(line)
    return [
      '### `rowgate check` of a million rows of ten columns, with a reference and a unique field',
      '',
      '| Time | Problems found |',
      '| ---: | -------------: |',
      line,
    ].join('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
