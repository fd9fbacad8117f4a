import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serverCommand } from './cores.ts'
import type { Tables } from './database.ts'
import type { Headers, Usage } from './servers/announce.ts'

export interface RunningServer {
  /** Whether it has a core for itself, and the load generator another one. */
  pinned: boolean
  port: number
  url: string
  /** What each request has to carry. */
  headers: Headers
  usage(): Promise<Usage>
  /** Collects garbage and returns the usage after it. */
  collect(): Promise<Usage>
  stop(): Promise<void>
}

/** A database that a server has for itself. */
export interface ServerDatabase {
  /** How the server's program finds it: a file, or a URL. */
  place: string
  remove(): Promise<void> | void
}

export interface ServerOptions {
  database: ServerDatabase
  /** The tables that it publishes, or what else its program takes. */
  tables: string[]
  pinned: boolean
}

/** Resolves with the next message of a process. Rejects if the process ends before. */
export async function messageFrom(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController()
  const { signal } = ended
  // A process that ends has exited before its last message is read, but its channel is closed after that.
  const end = once(child, 'disconnect', { signal }).then(async () => {
    await endOf(child, signal)
    throw new Error(`A process ended early with ${String(child.exitCode ?? child.signalCode)}.`)
  })
  const message = once(child, 'message', { signal }).then(([value]) => value as unknown)
  end.catch(() => undefined)
  message.catch(() => undefined)
  return Promise.race([message, end]).finally(() => ended.abort())
}

/** Runs a program that sends one message. Resolves with the message once the program has ended. */
export async function figuresFrom(program: string, args: readonly string[]): Promise<unknown> {
  const child = fork(program, args)
  try {
    const figures = await messageFrom(child)
    await endOf(child)
    return figures
  } finally {
    child.kill()
  }
}

/** Resolves when a process has ended. */
export async function endOf(child: ChildProcess, signal?: AbortSignal): Promise<void> {
  const isRunning = child.exitCode === null && child.signalCode === null
  if (isRunning) await once(child, 'exit', { signal })
}

const directory = mkdtempSync(join(tmpdir(), 'rowgate-bench-'))
process.on('exit', () => rmSync(directory, { recursive: true }))
process.on('SIGINT', () => process.exit(130))

const templates = new Map<Tables, string>()

/** Returns a copy of a SQLite database with these tables; `create` writes it the first time. */
export function databaseFileOf(
  tables: Tables,
  create: (file: string, tables: Tables) => void,
): ServerDatabase {
  let template = templates.get(tables)
  if (template === undefined) {
    template = join(directory, `template-${templates.size}.db`)
    create(template, tables)
    templates.set(tables, template)
  }
  const file = join(mkdtempSync(join(directory, 'data-')), 'data.db')
  copyFileSync(template, file, constants.COPYFILE_FICLONE)
  return { place: file, remove: () => rmSync(join(file, '..'), { recursive: true, force: true }) }
}

/** Starts the program of a server in a process of its own. */
export async function startServer(
  program: string,
  { database, tables, pinned }: ServerOptions,
): Promise<RunningServer> {
  const child = spawn(
    ...serverCommand(pinned, ['--expose-gc', program, database.place, ...tables]),
    {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    },
  )
  const { port, headers } = (await messageFrom(child)) as { port: number; headers: Headers }

  async function ask(what: 'usage' | 'collect'): Promise<Usage> {
    const answer = messageFrom(child)
    child.send(what)
    return (await answer) as Usage
  }

  async function stop(): Promise<void> {
    if (!child.connected) return
    const exit = once(child, 'exit')
    child.disconnect()
    await exit
    await database.remove()
  }

  return {
    pinned,
    port,
    url: `http://127.0.0.1:${port}`,
    headers,
    usage: () => ask('usage'),
    collect: () => ask('collect'),
    stop,
  }
}
