import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runAlone } from './command-line.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-endings-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

test.each([
  ['openapi', ['openapi', '--title', 'x'], 'openapi.txt', '.json, .yaml, .yml'],
  ['openapi', ['openapi', '--title', 'x'], 'openapi', '.json, .yaml, .yml'],
  ['import openapi', ['import', 'openapi', 'shop.json'], 'shop.json', '.ts, .mts, .cts'],
  ['introspect', ['introspect', 'shop.db'], 'shop.yaml', '.ts, .mts, .cts, .js, .mjs, .cjs, .json'],
])(
  '%s rejects a file with another ending, and writes nothing',
  async (_name, line, file, known) => {
    const run = await runAlone([...line, '--out', join(folder, file)])
    expect(run.code).toBe(2)
    expect(run.messages).toContain(`--out must be a file that ends with one of ${known}.`)
    expect(readdirSync(folder)).toEqual([])
  },
)
