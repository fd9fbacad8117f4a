import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** An entry of the package: what applications import, the name of its build, and its source. */
export interface Entry {
  readonly specifier: string
  readonly name: string
  readonly source: string
}

const folder = 'src/entries'

/**
 * The entries of the package: one file of src/entries each. Build, tests and pack check read this list; a test compares
 * tsconfig.json and package.json with it.
 */
export const entries: readonly Entry[] = readdirSync(root + folder)
  .map((file) => basename(file, '.ts'))
  .map((name) => ({
    specifier: name === 'index' ? 'rowgate' : `rowgate/${name}`,
    name,
    source: `${folder}/${name}.ts`,
  }))
  .sort((a, b) => (a.specifier < b.specifier ? -1 : 1))
