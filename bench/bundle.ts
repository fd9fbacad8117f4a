import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Figures } from './figures.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const goalKilobytes = 80

/** Measures what a bundle gets that contains a service on memory storage. */
export const bundle: Figures = {
  name: 'bundle',
  programs: [],
  async measure() {
    const { outputFiles } = await build({
      stdin: {
        contents: "export { createService, memoryStorage } from './dist/index.js'",
        resolveDir: root,
      },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'neutral',
      external: ['redos-detector'],
      write: false,
    })
    const bytes = outputFiles[0]?.contents ?? new Uint8Array()
    const kilobytes = (length: number) => (length / 1000).toFixed(1)
    return [
      '### Bundle: `createService` and `memoryStorage`',
      '',
      `${kilobytes(bytes.length)} KB minified, ${kilobytes(gzipSync(bytes, { level: 9 }).length)} KB gzipped.`,
      '',
      `Goal: at most ${goalKilobytes} KB gzipped. redos-detector is not in it: it is imported if a field has a pattern.`,
    ].join('\n')
  },
}
