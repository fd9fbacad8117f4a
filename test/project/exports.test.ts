import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { entries, root } from '../../.ci/entries.ts'
import { presentEntries, publicNames } from './surface.ts'
import { textOf } from './tree.ts'

const names = publicNames()

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>
}

test('the public names are those of exports.txt (vitest -u accepts a change)', async () => {
  const list = presentEntries.flatMap(({ specifier }) => [
    specifier,
    ...names
      .filter(({ entry }) => entry === specifier)
      .map(({ kind, name }) => (kind === 'value' ? `  ${name}` : `  type ${name}`)),
    '',
  ])
  await expect(list.join('\n')).toMatchFileSnapshot('exports.txt')
})

test.each(presentEntries)('$specifier exports at run time what it declares', async (entry) => {
  const module = (await import(pathToFileURL(join(root, entry.source)).href)) as object
  const declared = names.filter(({ entry: of, kind }) => of === entry.specifier && kind === 'value')
  expect(Object.keys(module).sort()).toEqual(declared.map(({ name }) => name).sort())
})

test('every public name has a sentence', () => {
  const silent = names.filter(({ documented }) => !documented)
  expect(silent.map(({ entry, name }) => `${entry}: ${name}`)).toEqual([])
})

test('package.json opens every entry, for import and require with types of their own', () => {
  const { exports } = JSON.parse(textOf('package.json')) as Manifest
  for (const { specifier, name } of entries) {
    expect(exports[specifier.replace('rowgate', '.')]).toEqual({
      import: { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
      require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
    })
  }
})
