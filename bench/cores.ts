import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const loadCore = '0'
const serverCore = '1'

function taskset(...args: string[]): boolean {
  return spawnSync('taskset', args, { stdio: 'ignore' }).status === 0
}

/** Keeps this process, the load generator, off the servers' core; false where that can't be. */
export function pinLoadGenerator(): boolean {
  return availableParallelism() > 1 && taskset('-acp', loadCore, String(process.pid))
}

export function serverCommand(pinned: boolean, args: string[]): [string, string[]] {
  const node = [process.execPath, ...args] as [string, ...string[]]
  return pinned ? ['taskset', ['-c', serverCore, ...node]] : [node[0], args]
}
