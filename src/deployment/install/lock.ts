import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pause, runtime } from '../../runtime.ts'
import type { Disk } from './disk.ts'
import { InstallError } from './install-error.ts'

const form = /^\.lock-(\d{1,10})-(\d+)-[0-9a-f-]{36}$/
const maxTries = 8
const maxProcess = 2 ** 31 - 1

/**
 * Calls `work` while no other process on this machine changes the folder of releases. Throws an
 * InstallError if another process holds the lock.
 *
 * Every process creates its own lock file, then checks for other lock files. Of two concurrent processes
 * at least one sees the other and retries. The lock file of a dead process can therefore be removed
 * without a race: no process ever takes over the file of another.
 */
export async function withLock<Result>(
  folder: string,
  disk: Disk,
  work: () => Promise<Result>,
): Promise<Result> {
  const own = `.lock-${process.pid}-${startTimeOf(process.pid)}-${runtime.randomUUID()}`
  for (let tries = 1; ; tries++) {
    await disk.writeFile(join(folder, own), new Uint8Array())
    try {
      const others = (await disk.list(folder)).filter((name) => form.test(name) && name !== own)
      const holder = others.find(isHeld)
      if (holder === undefined) {
        for (const stale of others) await disk.remove(join(folder, stale))
        return await work()
      }
      if (tries === maxTries) throw lockedError(holder)
    } finally {
      await disk.remove(join(folder, own))
    }
    // The random delay keeps two retrying processes from colliding again.
    await pause(5 + runtime.random() * 20 * tries)
  }
}

function lockedError(name: string): InstallError {
  const [, process] = form.exec(name) ?? []
  return new InstallError(
    `Another install or rollback is in progress in this folder (process ${process ?? ''}). Wait until it ends. If there is no such process, remove the file ${name}.`,
  )
}

function isHeld(name: string): boolean {
  const [, pid = '', start] = form.exec(name) ?? []
  // No process has such an identifier: it is not a lock file of this function.
  if (Number(pid) < 1 || Number(pid) > maxProcess) return false
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    // Other errors, such as EPERM, mean that the process exists.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return start === startTimeOf(Number(pid))
}

/**
 * Returns the start time of a process on Linux, and `0` elsewhere. Process identifiers are reused, and in
 * a container every start may have the same one.
 */
export function startTimeOf(pid: number): string {
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return state.slice(state.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
  } catch {
    return '0'
  }
}
