import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { rollup } from 'rollup'
import { entries, root } from './entries.ts'

// Splitting makes a chunk for each set of entries that share code. Two dozen files take longer to find
// and read than their code takes to run, so the chunks of the main entry become one: an application that
// uses another entry uses the main one too. What the client shares with it stays apart: pages in a browser load the
// client alone.
const dist = join(root, 'dist')
const main = join(dist, 'index.js')
const client = join(dist, 'client.js')
const chunks = readdirSync(dist).filter((name) => /^chunk-\w+\.js$/.test(name))

const bundle = await rollup({
  input: Object.fromEntries(entries.map(({ name }) => [name, join(dist, `${name}.js`)])),
  external: (id) => !/^[./]/.test(id),
  onwarn: ({ message }) => {
    throw new Error(message)
  },
})
await bundle.write({
  dir: dist,
  format: 'es',
  manualChunks: (id, { getModuleInfo }) => {
    const isImportedBy = (entry: string) => getModuleInfo(entry)?.importedIds.includes(id) === true
    if (isImportedBy(client)) return 'shared-with-client'
    return isImportedBy(main) ? 'core' : undefined
  },
})
await bundle.close()
for (const name of chunks) rmSync(join(dist, name))
