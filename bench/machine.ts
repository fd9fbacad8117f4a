import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** What all cores together have done since the machine was started, in hundredths of a second. */
export interface Ticks {
  busy: number
  all: number
}

const ticksPerSecond = 100
/** From here on, other programs of the machine disturb the figures. */
const disturbing = 0.05

/** Reads the counters of the machine; undefined where it has none, as on macOS. */
export function busyTicks(): Ticks | undefined {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
    // user, nice, system, idle, iowait, irq, softirq, steal
    const counts = line.trim().split(/\s+/).slice(1, 9).map(Number)
    const all = counts.reduce((sum, count) => sum + count, 0)
    const [, , , idle = 0, waiting = 0] = counts
    return { busy: all - idle - waiting, all }
  } catch {
    return undefined
  }
}

/** Returns the share of the machine that was busy between two readings beyond `ownSeconds`. */
export function foreignShare(
  from: Ticks | undefined,
  to: Ticks | undefined,
  ownSeconds = 0,
): number {
  if (!from || !to || to.all === from.all) return NaN
  const busy = to.busy - from.busy - ownSeconds * ticksPerSecond
  return Math.max(0, busy / (to.all - from.all))
}

/** Waits while other programs use the machine, for at most some seconds in all. */
export interface QuietMachine {
  /** Resolves when the machine is quiet, or when the time is used up. */
  wait(): Promise<void>
}

export function quietMachine(maxSeconds: number): QuietMachine {
  let left = maxSeconds * 1000
  async function foreign(): Promise<number> {
    const before = busyTicks()
    const { user, system } = process.cpuUsage()
    await delay(200)
    const own = process.cpuUsage()
    const seconds = (own.user + own.system - user - system) / 1e6
    return foreignShare(before, busyTicks(), seconds)
  }
  return {
    async wait() {
      const started = performance.now()
      let told = false
      for (;;) {
        const share = await foreign()
        if (!(share > disturbing)) break
        if (!told) {
          const use = `Other programs use ${percent(share)} of the machine`
          console.log(left > 0 ? `${use}; waiting.` : `${use}; not waiting any longer.`)
        }
        told = true
        if (performance.now() - started >= left) break
        await delay(1000)
      }
      left = Math.max(0, left - (performance.now() - started))
    },
  }
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
