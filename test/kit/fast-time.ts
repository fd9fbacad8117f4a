import { onTestFinished } from 'vitest'
import { replaceRuntime, runtime } from '../../src/runtime.ts'

/** Lets the clock and the timers of the library run faster until the end of the test. Those of drivers keep their time. */
export function fastTime(factor: number): void {
  const own = { ...runtime }
  replaceRuntime({
    ...own,
    performanceNow: () => own.performanceNow() * factor,
    setTimeout: (callback, milliseconds = 0) => own.setTimeout(callback, milliseconds / factor),
    setInterval: (callback, milliseconds) => own.setInterval(callback, milliseconds / factor),
  })
  onTestFinished(() => replaceRuntime())
}
