import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { StepFailure } from './command.ts'
import { root } from './entries.ts'

// 150 bytes of it are for operators: their parameters, and the answer to an empty list without a request.
const maxSize = 7_850

/** What the client adds to a page: all of `rowgate/client`, bundled for browsers, minified and gzipped. */
export async function checkClientSize(): Promise<string> {
  const entry = join(root, 'dist/client.js')
  if (!existsSync(entry)) throw new StepFailure('dist/client.js is missing: npm run build')
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    logLevel: 'silent',
  })
  const [file] = outputFiles
  const size = gzipSync(file?.contents ?? '', { level: 9 }).length
  const note = `${size} bytes, of ${maxSize}`
  if (size > maxSize) throw new StepFailure(`rowgate/client, bundled and gzipped: ${note}`)
  return note
}
