import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Disk } from './disk.ts'
import { InstallError } from './install-error.ts'

const form = /^\.lock-(\d{1,10})-(\d+)-[0-9a-f-]{36}$/
const mostTries = 8

/**
 * Does work while nobody else on this machine changes a folder of releases. Throws an InstallError when
 * somebody does.
 *
 * Each has a lock file of its own, and looks for those of others after it has made it: of two at once
 * at least one sees the other, and steps back. So a lock that a dead process has left is simply removed;
 * there is no moment at which two may take it over.
 */
export async function whileLocked<Result>(
  folder: string,
  disk: Disk,
  work: () => Promise<Result>,
): Promise<Result> {
  const own = `.lock-${process.pid}-${startOf(process.pid)}-${randomUUID()}`
  for (let tries = 1; ; tries++) {
    await disk.writeFile(join(folder, own), new Uint8Array())
    try {
      const others = (await disk.list(folder)).filter((name) => form.test(name) && name !== own)
      const holder = others.find(isHeld)
      if (holder === undefined) {
        for (const dead of others) await disk.remove(join(folder, dead))
        return await work()
      }
      if (tries === mostTries) throw occupied(holder)
    } finally {
      await disk.remove(join(folder, own))
    }
    // Two that have both stepped back must not meet again.
    await pause(5 + Math.random() * 20 * tries)
  }
}

function occupied(name: string): InstallError {
  const [, process] = form.exec(name) ?? []
  return new InstallError(
    `Another install or rollback is at work in this folder (process ${process ?? ''}). Wait for it; if there is no such process, remove the file ${name}.`,
  )
}

function isHeld(name: string): boolean {
  const [, pid = '', start] = form.exec(name) ?? []
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    // Anything but ESRCH means that it is there, and somebody else's.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return start === startOf(Number(pid))
}

/**
 * When a process was started, where the system tells: numbers of processes are used again, and in a
 * container each start has the same.
 */
export function startOf(pid: number): string {
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return state.slice(state.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
  } catch {
    return '0'
  }
}
