import { execFileSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('..', import.meta.url))

function npm(...args: string[]): void {
  execFileSync('npm', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Builds the library and makes `rowgate` mean this build, as for any package that installs it. */
export function buildLibrary(): void {
  npm('run', 'build')
  const link = `${here}node_modules/rowgate`
  if (!existsSync(link)) symlinkSync('../..', link)
}

/** Compiles the servers to plain JavaScript, so that no loader stands between them and node. */
export async function buildServers(names: string[]): Promise<void> {
  if (names.length === 0) return
  await build({
    config: false,
    silent: true,
    entry: names.map((name) => `bench/servers/${name}.ts`),
    outDir: 'bench/dist',
    format: 'esm',
    target: 'node20',
    splitting: false,
    skipNodeModulesBundle: true,
    // The types of rowgate come from its sources, but what runs is the build.
    esbuildOptions: (options) => void (options.external = ['rowgate']),
  })
}

export function programOf(name: string): string {
  return `${here}dist/${name}.js`
}
