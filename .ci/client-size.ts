import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { consoleAssets } from './console-assets.ts'
import { StepFailure } from './command.ts'
import { root } from './entries.ts'

// 150 bytes of it are for operators: their parameters, and the answer to an empty list without a request. 44 are for
// related items.
const maxSize = 7_890
/** The console needs about 30 KB. Its limit is that of people on slow lines. */
const maxConsoleSize = 60_000

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

/** What a browser loads of the console: script and style sheet, gzipped. */
export function checkConsoleSize(): Promise<string> {
  const sizes = consoleAssets
    .filter((path) => !path.endsWith('.txt'))
    .map((path) => gzipSync(readFileSync(join(root, path)), { level: 6 }).length)
  const size = sizes.reduce((sum, one) => sum + one, 0)
  const note = `${size} bytes, of ${maxConsoleSize}`
  if (size > maxConsoleSize) throw new StepFailure(`rowgate/console, gzipped: ${note}`)
  return Promise.resolve(note)
}
