import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the processes of a server by its folder: the first one and its children. */
export function postgresProcesses(data: string): readonly number[] {
  let main: number
  try {
    main = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return []
  }
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && parentOf(name) === main,
  )
  return [main, ...children.map(Number)]
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

/** Sends a signal to a process, if it has not ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}
