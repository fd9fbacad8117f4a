import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Figures } from './figures.ts'
import { mark } from './goals.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const goalKilobytes = 80

/** Measures what a bundle gets that contains a service on memory storage. */
export const bundle: Figures = {
  name: 'bundle',
  programs: [],
  async measure() {
    const whole = await sizeOf('./dist/index.js', ['redos-detector'])
    // The build contains zod, the sources import it.
    const own = await sizeOf('./src/entries/index.ts', ['redos-detector', 'zod'])
    return [
      '### Bundle: `createService` and `memoryStorage`',
      '',
      `${whole.minified} KB minified, ${whole.gzipped} KB gzipped. Without zod, ${own.minified} and ${own.gzipped} KB.`,
      '',
      `${mark(Number(whole.gzipped) <= goalKilobytes)}: at most ${goalKilobytes} KB gzipped. redos-detector is not in it: it is imported if a field has a pattern.`,
    ].join('\n')
  },
}

async function sizeOf(module: string, external: string[]) {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { createService, memoryStorage } from '${module}'`,
      resolveDir: root,
    },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external,
    write: false,
  })
  const bytes = outputFiles[0]?.contents ?? new Uint8Array()
  const kilobytes = (length: number) => (length / 1000).toFixed(1)
  const gzipped = kilobytes(gzipSync(bytes, { level: 9 }).length)
  return { minified: kilobytes(bytes.length), gzipped }
}
