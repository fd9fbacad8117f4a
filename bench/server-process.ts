import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOf } from './build.ts'
import { serverCommand } from './cores.ts'
import { createDatabase } from './database.ts'
import type { Headers, Usage } from './servers/announce.ts'

export interface RunningServer {
  url: string
  /** What each request has to carry. */
  headers: Headers
  usage(): Promise<Usage>
  stop(): Promise<void>
}

async function messageFrom(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController()
  const exit = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`A server ended early with exit code ${String(code)}.`)
  })
  const message = once(child, 'message', { signal: ended.signal }).then(
    ([value]) => value as unknown,
  )
  exit.catch(() => undefined)
  message.catch(() => undefined)
  return Promise.race([message, exit]).finally(() => ended.abort())
}

const directory = mkdtempSync(join(tmpdir(), 'rowgate-bench-'))
process.on('exit', () => rmSync(directory, { recursive: true }))
process.on('SIGINT', () => process.exit(130))

function freshDatabase(name: string): string {
  const file = join(mkdtempSync(join(directory, `${name}-`)), 'northwind.db')
  createDatabase(file)
  return file
}

/** Starts a server by name in a process of its own, on a database of its own. */
export async function startServer(name: string, pinned: boolean): Promise<RunningServer> {
  const child = spawn(...serverCommand(pinned, [programOf(name), freshDatabase(name)]), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const { port, headers } = (await messageFrom(child)) as { port: number; headers: Headers }

  async function usage(): Promise<Usage> {
    const answer = messageFrom(child)
    child.send('usage')
    return (await answer) as Usage
  }

  async function stop(): Promise<void> {
    if (!child.connected) return
    const exit = once(child, 'exit')
    child.disconnect()
    await exit
  }

  return { url: `http://127.0.0.1:${port}`, headers, usage, stop }
}
