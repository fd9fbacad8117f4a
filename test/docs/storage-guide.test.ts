import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'

const guide = readFileSync(join(root, 'docs/guides/storage-adapters.md'), 'utf8')
const [adapter = '', run = ''] = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
  ([, program = '']) => program,
)
const folder = join(root, '.data/storage-guide')
const files = { 'json-file-storage.ts': adapter, 'json-file-storage.test.ts': run }

mkdirSync(folder, { recursive: true })
for (const [name, program] of Object.entries(files)) writeFileSync(join(folder, name), program)

// The guide's own test file registers the kit's cases here, over the guide's own adapter.
describe('the adapter of the guide', async () => {
  await import(pathToFileURL(join(folder, 'json-file-storage.test.ts')).href)
})

test('the adapter of the guide has fewer than 150 lines', () => {
  expect(adapter.trimEnd().split('\n').length).toBeLessThan(150)
})

test('the programs of the guide compile with the strict options of this repository', () => {
  const file = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent(file.config as unknown, ts.sys, root)
  const paths = Object.keys(files).map((name) => join(folder, name))
  const program = ts.createProgram(paths, options)
  const problems = paths.flatMap((path) => {
    const source = program.getSourceFile(path)
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
  })
  const texts = problems.map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, '\n'),
  )
  expect(texts).toEqual([])
})
