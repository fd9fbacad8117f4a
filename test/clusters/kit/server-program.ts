import { execFile, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

/** A server that a test has started. */
export interface ServerProgram {
  readonly host: '127.0.0.1'
  readonly port: number
  /** Sends a signal, such as SIGKILL or SIGSTOP. */
  signal(name: NodeJS.Signals): void
  /** Ends the server, waits for its end and removes its folder. */
  stop(): Promise<void>
}

/** How a server is started. */
export interface ServerProgramOptions {
  readonly command: string
  readonly args: readonly string[]
  /** The user of the system that runs it if the tests run as root, as which such servers do not run. */
  readonly user: string
  readonly folder: string
  readonly port: number
  /** Rejects until the server has started. Default: the port accepts connections. */
  readonly check?: () => Promise<unknown>
  /** The signal that ends it. */
  readonly end: NodeJS.Signals
}

const maxStartMilliseconds = 60_000

/** Starts a server and waits until it responds. It ends at the latest when this process ends. */
export async function startServerProgram(options: ServerProgramOptions): Promise<ServerProgram> {
  const { command, args, user, folder, port, end, check = () => connected(port) } = options
  const [program, ...words] = [...as(user), '--pdeathsig', 'KILL', command, ...args]
  const child = spawn(program, words, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (chunk: string): void => void (output = (output + chunk).slice(-4_000))
  child.stdout.setEncoding('utf8').on('data', keep)
  child.stderr.setEncoding('utf8').on('data', keep)
  const state = { hasEnded: false }
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      state.hasEnded = true
      resolve()
    })
    child.once('error', (error) => keep(String(error)))
  })
  const latest = performance.now() + maxStartMilliseconds
  while (!(await succeeds(check))) {
    if (state.hasEnded || performance.now() > latest) {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
      throw new Error(`${command} did not start. It printed:\n${output}`)
    }
    await pause(50)
  }
  return {
    host: '127.0.0.1',
    port,
    signal: (name) => void child.kill(name),
    stop: async () => {
      child.kill('SIGCONT')
      child.kill(end)
      const kill = setTimeout(() => child.kill('SIGKILL'), 20_000)
      await ended
      clearTimeout(kill)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Runs a program to its end, as the user of the server. Rejects with what it printed if it fails. */
export async function runAs(user: string, command: string, args: readonly string[]): Promise<void> {
  const [program, ...words] = [...as(user), command, ...args]
  await promisify(execFile)(program, words, { cwd: tmpdir() })
}

/** Creates a folder that belongs to the user of a server. */
export function serverFolder(user: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'rowgate-server-'))
  chmodSync(folder, 0o700)
  if (isRoot()) execFileSync('chown', [user, folder])
  return folder
}

function as(user: string): [string, ...string[]] {
  return ['setpriv', ...(isRoot() ? ['--reuid', user, '--regid', user, '--init-groups'] : [])]
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

async function succeeds(check: () => Promise<unknown>): Promise<boolean> {
  try {
    await check()
    return true
  } catch {
    return false
  }
}

function connected(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
  })
}
