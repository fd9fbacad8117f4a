import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import { openCommandLine } from './command-line.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-import-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})
const shop = join(root, 'test/consume/openapi/shop.yaml')
const run = (...line: readonly string[]) =>
  openCommandLine().run(['import', 'openapi', ...line], { workingFolder: folder })

test('an import writes the file and prints what was left out', async () => {
  const { code, output, messages } = await run(shop, '--out', 'shop.ts')
  expect({ code, output }).toEqual({
    code: 0,
    output: `Wrote 5 endpoints to ${join(folder, 'shop.ts')}.\n`,
  })
  expect(messages).toContain('#/paths/~1products/get: the parameter session is a cookie\n')
  expect(readFileSync(join(folder, 'shop.ts'), 'utf8')).toContain('listProducts: endpoint(')
})

test('an import prints JSON for programs', async () => {
  const { output, messages } = await run(shop, '--out', 'shop.ts', '--json')
  expect(JSON.parse(output)).toMatchObject({ endpoints: 5, notes: { length: 2 } })
  expect(messages).toBe('')
})

test('an invalid document is rejected with the place of each mistake, and nothing is written', async () => {
  const paths = { '/a': { $ref: 'x.json' }, '/b': { $ref: '#/c' } }
  const document = { openapi: '3.0.0', info: { title: 'x', version: '1' }, paths }
  writeFileSync(join(folder, 'bad.json'), JSON.stringify(document, null, 2))
  const before = readdirSync(folder)
  const { code, messages } = await run('bad.json', '--out', 'new.ts')
  expect(code).toBe(1)
  expect(messages).toContain('line 9: #/paths/~1a/$ref: refers to another document')
  expect(messages).toContain('line 12: #/paths/~1b/$ref: refers to nothing\n')
  expect(messages).toMatch(/rowgate: The document cannot be imported\.\n$/)
  expect(readdirSync(folder)).toEqual(before)
})

test('a strict import rejects what is repaired otherwise', async () => {
  const file = join(folder, 'repaired.yaml')
  const text = `openapi: 3.0.3
info: { title: Shop, version: 1.0 }
paths: {}
`
  writeFileSync(file, text)
  const note = "line 2: #/info/version: is not a string: it is read as '1'\n"
  const repaired = await run(file, '--out', 'repaired.ts')
  expect(repaired).toMatchObject({ code: 0, messages: note })
  const rejected = await run(file, '--out', 'strict.ts', '--strict')
  expect(rejected).toMatchObject({ code: 1, output: '' })
  expect(rejected.messages).toContain(note)
  expect(readdirSync(folder)).not.toContain('strict.ts')
})

test.each([
  [[], 'Missing argument'],
  [[shop], '--out'],
])('an import with the arguments %j is invalid usage', async (line, message) => {
  const { code, messages } = await run(...line, ...(line.length === 0 ? ['--out', 'x.ts'] : []))
  expect(code).toBe(2)
  expect(messages).toContain(message)
})
