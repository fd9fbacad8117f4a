import { setTimeout as delay } from 'node:timers/promises'

/** The processes of a program: itself and everything that it has started. */
export interface ProcessGroup {
  /** Asks all of them to end, and ends them if the first one has not ended two seconds later. */
  stop(): void
  /** To be called at once when the first process has ended: ends what it has left running. */
  finish(): void
  /** Waits until none is left. What only awaits its burial is not waited for longer than that. */
  gone(milliseconds: number): Promise<void>
}

const grace = 2_000

/** The group of a process that was started detached. */
export function processGroup(pid: number): ProcessGroup {
  let last: NodeJS.Timeout | undefined
  let finished = false

  /** Sends a signal to all of them: whether there was one to get it. */
  function send(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-pid, signal)
    } catch {
      return false
    }
  }

  return {
    stop() {
      // Afterwards the number may be that of a stranger.
      if (finished || last !== undefined) return
      send('SIGTERM')
      last = setTimeout(() => send('SIGKILL'), grace)
    },
    finish() {
      finished = true
      clearTimeout(last)
      send('SIGKILL')
    },
    async gone(milliseconds) {
      for (let waited = 0; waited < milliseconds && send(0); waited += 10) await delay(10)
    },
  }
}
