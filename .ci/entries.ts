import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** A door of the package: what people import, the name of its build, and the source behind it. */
export interface Entry {
  readonly specifier: string
  readonly name: string
  readonly source: string
}

interface PathMap {
  readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly [string]>> }
}

/** The `paths` of tsconfig.json are the one list of entries: build, tests and pack check read it. */
export const entries: readonly Entry[] = Object.entries(
  (JSON.parse(readFileSync(`${root}tsconfig.json`, 'utf8')) as PathMap).compilerOptions.paths,
).map(([specifier, [source]]) => ({
  specifier,
  name: specifier === 'rowgate' ? 'index' : specifier.slice('rowgate/'.length),
  source: source.slice('./'.length),
}))
