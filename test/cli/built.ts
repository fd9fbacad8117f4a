import { spawn, type ChildProcess } from 'node:child_process'
import { cp, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'tsup'
import { root } from '../../.ci/entries.ts'
import manifest from '../../package.json' with { type: 'json' }
import { commandLine, library } from '../../tsup.config.ts'
import type { Run } from './command-line.ts'

/** How a command line is run as a process. */
export interface Setting {
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** A process, what it has said so far, and how it ends. */
export interface Started {
  readonly child: ChildProcess
  readonly said: () => string
  readonly ended: Promise<Run>
}

/** Makes a folder in which the package is installed, built as for npm, and a module of a service stands. */
export async function projectWith(service: string): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'rowgate-cli-')))
  await installBuild(join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'service.js'), service)
  return folder
}

async function installBuild(modules: string): Promise<void> {
  const house = join(modules, 'rowgate')
  const outDir = join(house, 'dist')
  const common = { config: false, silent: true, dts: false, clean: false, outDir } as const
  await build({ ...library, ...common, format: 'esm' })
  await build({ ...commandLine, ...common })
  await cp(join(root, 'package.json'), join(house, 'package.json'))
  for (const name of [...Object.keys(manifest.dependencies), 'better-sqlite3'])
    await symlink(join(root, 'node_modules', name), join(modules, name))
}

/** Starts the command line as a process of its own, in the folder of the service. */
export function start(
  folder: string,
  line: readonly string[],
  { input = '', environment }: Setting = {},
): Started {
  const { NO_COLOR: _, FORCE_COLOR: __, ...rest } = process.env
  const program = [join(folder, 'node_modules/rowgate/dist/cli.js'), ...line]
  const child = spawn(process.execPath, program, { cwd: folder, env: { ...rest, ...environment } })
  let [output, messages] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (messages += chunk.toString()))
  child.stdin.end(input)
  const ended = new Promise<Run>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? -1, output, messages }))
  })
  return { child, said: () => messages, ended }
}
