import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Options } from 'tsup'
import { root } from './entries.ts'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/** Writes the licences of the packages that a build takes in into its folder: they ask for that. */
export function writeLicences(file: string): Plugin {
  return {
    name: 'licences',
    setup(build) {
      build.onEnd(({ metafile }) => {
        const folders = Object.keys(metafile?.inputs ?? {}).map(
          (input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0],
        )
        const packages = [...new Set(folders)].filter((folder) => folder !== undefined).sort()
        const folder = resolve(root, build.initialOptions.outdir ?? 'dist')
        mkdirSync(folder, { recursive: true })
        writeFileSync(join(folder, file), packages.map(licenceOf).join('\n'))
      })
    },
  }
}

function licenceOf(folder: string): string {
  const path = join(root, folder)
  const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly version: string
  }
  const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry))
  if (file === undefined) throw new Error(`${name} comes without its licence.`)
  return `${name} ${version}\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`
}
