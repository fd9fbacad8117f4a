import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOf } from './build.ts'
import { figuresFrom } from './server-process.ts'
import type { IndexFigures } from './servers/indexes.ts'

/** The name by which `--only` selects pages by an index of two columns. */
export const indexes = 'indexes'

/** Measures pages of a collection filtered by two fields, with an index of both and without one. */
export async function measureIndexes(program = programOf(indexes)): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rowgate-indexes-'))
  try {
    const { indexed, scanned, byHand } = (await figuresFrom(program, [
      join(folder, 'data.db'),
    ])) as IndexFigures
    const lines = [
      `| rowgate, \`index: [['country', 'city']]\` | ${indexed.toFixed(0)} µs |`,
      `| rowgate, no index: every row is read in the thread | ${scanned.toFixed(0)} µs |`,
      `| by hand, the same index | ${byHand.toFixed(0)} µs |`,
    ]
    for (const line of lines) console.log(line)
    return [
      '### A page of 10 of 100,000 rows, filtered by two fields, in process',
      '',
      '| Way | A page |',
      '| --- | -----: |',
      ...lines,
    ].join('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
