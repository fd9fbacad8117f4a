import { mkdirSync, writeFileSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { ConsoleBundle } from '../src/console/console-files.ts'
import { root } from './entries.ts'

const folder = 'dist/assets'

/** The files of the console by their place in the package. Preact comes with its licence. */
export const consoleAssets: readonly string[] = [
  `${folder}/console.js`,
  `${folder}/console.css`,
  `${folder}/preact.LICENSE.txt`,
]

/** Bundles the browser code of the console for browsers of the last three years. */
export async function bundleConsole(): Promise<ConsoleBundle> {
  const source = join(root, 'src/console/app')
  const { outputFiles } = await build({
    entryPoints: ['main.tsx', 'console.css'].map((file) => ({
      in: join(source, file),
      out: 'console',
    })),
    outdir: folder,
    absWorkingDir: root,
    tsconfig: join(source, 'tsconfig.json'),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022'],
    legalComments: 'none',
    write: false,
    logLevel: 'silent',
  })
  const textOf = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? ''
  return { 'console.js': textOf('.js'), 'console.css': textOf('.css') }
}

// A part of the build.
if (argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(join(root, folder), { recursive: true })
  for (const [name, text] of Object.entries(await bundleConsole()))
    writeFileSync(join(root, folder, name), text)
  copyFileSync(join(root, 'node_modules/preact/LICENSE'), join(root, folder, 'preact.LICENSE.txt'))
}
