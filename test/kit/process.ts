import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { root } from '../../.ci/entries.ts'

const tsx = createRequire(import.meta.url).resolve('tsx')

/** What a process has printed, and how it ended. */
export interface Ended {
  readonly code: number | null
  readonly output: string
}

/** An example in a process of its own. */
export interface RunningExample {
  /** Waits until it has printed what matches. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>
  /** Everything that it has printed so far. */
  output(): string
  /** Waits for its end, after a signal where one is given. */
  ended(signal?: NodeJS.Signals): Promise<Ended>
}

/** Starts an example as a reader does. */
export function startExample(
  file: string,
  env: Readonly<Record<string, string>>,
  words: readonly string[] = [],
): RunningExample {
  const path = `examples/${file}`
  const child = spawn(process.execPath, ['--import', tsx, path, ...words], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { output, end } = follow(child)
  const printed = (pattern: RegExp): Promise<RegExpMatchArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(output())
        if (match !== null) resolve(match)
      }
      child.stdout.on('data', look)
      void end.then(() => reject(new Error(`${path} ended. It printed:\n${output()}`)))
      look()
    })
  return {
    printed,
    output,
    ended: (signal) => {
      if (signal !== undefined) child.kill(signal)
      return end
    },
  }
}

/** Runs a line in a shell, as a reader does, and returns what it prints. */
export async function runInShell(line: string): Promise<string> {
  const child = spawn('bash', ['-c', line], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
  const { code, output } = await follow(child).end
  if (code !== 0) throw new Error(`$ ${line} (exit code ${code ?? 'none'})`)
  return output
}

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function follow(child: ChildProcess): {
  readonly output: () => string
  readonly end: Promise<Ended>
} {
  let output = ''
  const keep = (chunk: string): void => void (output += chunk)
  child.stdout?.setEncoding('utf8').on('data', keep)
  child.stderr?.setEncoding('utf8').on('data', keep)
  const end = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
  return { output: () => output, end }
}
