import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Options } from 'tsup'
import { entries, root } from './.ci/entries.ts'
import { writeLicences } from './.ci/licences.ts'

/**
 * The library: every entry, as modules and as CommonJS. It contains zod, with its licence: bundled, it
 * loads without its locales, in a third of the time.
 */
export const library: Options = {
  entry: Object.fromEntries(entries.map(({ name, source }) => [name, source])),
  format: ['esm', 'cjs'],
  target: 'node20',
  platform: 'node',
  // tsup sets `baseUrl` for declarations, which TypeScript 6 deprecates.
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
  // Together: one copy of every module among the entries, in the CommonJS build too.
  splitting: true,
  treeshake: true,
  // Gives the CommonJS build an `import.meta.url`.
  shims: true,
  // The code is not minified, so stack traces are readable without them.
  sourcemap: false,
  minify: false,
  removeNodeProtocol: false,
  // The command line is built at the same time.
  clean: ['!cli.js', '!cli-licences.txt', '!cli/**'],
  esbuildPlugins: [writeLicences('licences.txt')],
}

// The names of the modules of commands change with their content, so old ones would stay.
const removeChunks: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'remove-chunks',
  setup({ initialOptions: { outdir = 'dist' }, onStart }) {
    onStart(() => rmSync(resolve(root, outdir, 'cli'), { recursive: true, force: true }))
  },
}

/**
 * The command line: a module that starts fast, and the code of the commands in modules that it loads. It
 * contains the packages that are not installed with the library, with their licences.
 */
export const commandLine: Options = {
  entry: { cli: 'src/cli/main.ts' },
  format: 'esm',
  target: 'node20',
  platform: 'node',
  removeNodeProtocol: false,
  splitting: true,
  clean: false,
  esbuildOptions(options) {
    options.chunkNames = 'cli/[name]-[hash]'
    // Names stay, so stack traces are readable.
    options.minifyWhitespace = true
    options.minifySyntax = true
  },
  esbuildPlugins: [writeLicences('cli-licences.txt'), removeChunks],
}

export default [library, commandLine]
