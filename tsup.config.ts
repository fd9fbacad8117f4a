import { existsSync } from 'node:fs'
import { defineConfig } from 'tsup'
import { entries, root } from './.ci/entries.ts'

export default defineConfig({
  entry: Object.fromEntries(
    entries
      .filter(({ source }) => existsSync(root + source))
      .map(({ name, source }) => [name, source]),
  ),
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
  sourcemap: true,
  minify: false,
  removeNodeProtocol: false,
  clean: true,
})
