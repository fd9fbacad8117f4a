import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { entries, root } from '../../.ci/entries.ts'
import { publicNames } from './surface.ts'
import { textOf } from './tree.ts'

const names = publicNames()
const statement =
  /^(?:\/\*\*.*\*\/\n)?export (?:type )?(?:\{[^{}]*\}|\* as \w+) from '\.\.\/[^']*'$/gm

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>
}

interface CompilerSettings {
  readonly compilerOptions: { readonly paths: unknown }
}

test('the public names equal exports.txt (vitest -u accepts a change)', async () => {
  const list = entries.flatMap(({ specifier }) => [
    specifier,
    ...names
      .filter(({ entry }) => entry === specifier)
      .map(({ kind, name }) => (kind === 'value' ? `  ${name}` : `  type ${name}`)),
    '',
  ])
  await expect(list.join('\n')).toMatchFileSnapshot('exports.txt')
})

test.each(entries)('$specifier exports at run time what it declares', async (entry) => {
  const module = (await import(pathToFileURL(join(root, entry.source)).href)) as object
  const declared = names.filter(({ entry: of, kind }) => of === entry.specifier && kind === 'value')
  expect(Object.keys(module).sort()).toEqual(declared.map(({ name }) => name).sort())
})

test('every public name has a sentence', () => {
  const silent = names.filter(({ documented }) => !documented)
  expect(silent.map(({ entry, name }) => `${entry}: ${name}`)).toEqual([])
})

test('every entry only re-exports: its code is in the folder of its subject', () => {
  const other = entries.filter(({ source }) => !textOf(source).split(statement).every(isBlank))
  expect(other.map(({ source }) => source)).toEqual([])
})

test('package.json exports every entry, for import and require with types of their own', () => {
  const { exports } = JSON.parse(textOf('package.json')) as Manifest
  const files = ['./definition.schema.json', './package.json'].map((file) => [file, exports[file]])
  const modules = entries.map(({ specifier, name }) => [
    specifier.replace('rowgate', '.'),
    {
      import: { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
      require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
    },
  ])
  expect(exports).toEqual(Object.fromEntries([...modules, ...files]))
})

test('tsconfig.json maps every entry to its source', () => {
  const { compilerOptions } = JSON.parse(textOf('tsconfig.json')) as CompilerSettings
  expect(compilerOptions.paths).toEqual(
    Object.fromEntries(entries.map(({ specifier, source }) => [specifier, [`./${source}`]])),
  )
})

function isBlank(text: string): boolean {
  return text.trim() === ''
}
