import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'tsup'
import { root } from '../../.ci/entries.ts'
import { library } from '../../tsup.config.ts'
import { freePort } from '../kit/process.ts'

const here = join(root, 'test/runtimes')

/** A folder in which the package is installed, and programs that are started there. */
export interface Project {
  readonly folder: string
  /** Writes a file below the folder, and returns its path. */
  write(path: string, text: string): string
  /** Starts a program of `node_modules/.bin`, and returns its address when it accepts connections. */
  serve(command: (port: number) => readonly string[]): Promise<string>
  /** Runs a program of `node_modules/.bin` to its end. */
  run(...command: readonly string[]): Promise<void>
  /** Ends the programs and removes the folder. */
  close(): Promise<void>
}

/** Builds the package as npm gets it, and installs it in a new folder. */
export async function openProject(): Promise<Project> {
  mkdirSync(join(here, '.data'), { recursive: true })
  const folder = mkdtempSync(join(here, '.data', 'project-'))
  const installed = join(folder, 'node_modules/rowgate')
  const outDir = join(installed, 'dist')
  const common = { config: false, silent: true, dts: false, clean: false } as const
  await build({ ...library, ...common, format: 'esm', outDir })
  cpSync(join(root, 'package.json'), join(installed, 'package.json'))
  const write = (path: string, text: string): string => {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }
  write('package.json', '{ "type": "module", "private": true }\n')
  const ends: (() => Promise<void>)[] = []

  function start([program = '', ...args]: readonly string[], port?: number) {
    const child = spawn(join(here, 'node_modules/.bin', program), args, {
      cwd: folder,
      env: { ...process.env, ...quiet, ...(port !== undefined && { PORT: String(port) }) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => void (output += chunk.toString()))
    }
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { child, ended, output: () => output }
  }

  return {
    folder,
    write,
    run: async (...command) => {
      const { ended, output } = start(command)
      if ((await ended) !== 0) throw new Error(`${command.join(' ')} failed:\n${output()}`)
    },
    serve: async (command) => {
      const port = await freePort()
      const { child, ended, output } = start(command(port), port)
      ends.push(async () => {
        // The programs start others, which belong to the same group.
        if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
        await ended
      })
      const address = `http://127.0.0.1:${port}`
      while (child.exitCode === null && child.signalCode === null) {
        const answered = await fetch(address).then(
          (answer) => answer.text().then(() => true),
          () => false,
        )
        if (answered) return address
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error(`${command(port).join(' ')} ended:\n${output()}`)
    },
    close: async () => {
      for (const end of ends) await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

// None of them may look for newer versions or report its use.
const quiet = {
  NO_COLOR: '1',
  DO_NOT_TRACK: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  DENO_NO_UPDATE_CHECK: '1',
  DENO_NO_PROMPT: '1',
}

/** A program of this folder. */
export function programText(name: string): string {
  return readFileSync(join(here, name), 'utf8')
}
