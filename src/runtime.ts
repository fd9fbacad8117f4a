/**
 * Time, timers and randomness of the process. The service, its adapters and its workers use them only here, so that a
 * simulation can provide them. Members named like a global behave like it.
 */
export interface ProcessRuntime {
  /** Milliseconds since 1970, which may go back: `Date.now`. */
  dateNow(): number
  /** Milliseconds of a clock that never goes back: `performance.now`. */
  performanceNow(): number
  setTimeout(callback: () => void, milliseconds?: number): Timer
  clearTimeout(timer: Timer | undefined): void
  setInterval(callback: () => void, milliseconds: number): Timer
  clearInterval(timer: Timer | undefined): void
  setImmediate(callback: () => void): void
  /** A number from 0 to below 1: `Math.random`. */
  random(): number
  /** A random UUID of version 4. */
  randomUUID(): string
  /** Bytes that can't be predicted; at most 65,536. */
  randomBytes(length: number): Buffer
}

/** A running timer or interval: an object in Node, a number in browsers and in some edge runtimes. */
export type Timer = object | number

// The globals are read at each call: an application or a test may replace them.
const ofProcess: ProcessRuntime = {
  dateNow: () => Date.now(),
  performanceNow: () => performance.now(),
  setTimeout: (callback, milliseconds) => setTimeout(callback, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  setInterval: (callback, milliseconds) => setInterval(callback, milliseconds),
  clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout | undefined),
  setImmediate: (callback) => void setImmediate(callback),
  random: () => Math.random(),
  randomUUID: () => crypto.randomUUID(),
  randomBytes: (length) => Buffer.from(crypto.getRandomValues(new Uint8Array(length))),
}

/** The runtime in use. */
export const runtime: ProcessRuntime = { ...ofProcess }

/** Replaces the runtime for the whole process, until it is called without one. For simulations: not exported by the package. */
export function replaceRuntime(other: ProcessRuntime = ofProcess): void {
  Object.assign(runtime, other)
}

/** Lets the process end while a timer runs. Returns the timer. A timer that is a number does not keep a process alive. */
export function unref(timer: Timer): Timer {
  const running = timer as Partial<Pick<NodeJS.Timeout, 'unref'>>
  if (typeof running.unref === 'function') running.unref()
  return timer
}

/** Resolves after a number of milliseconds. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => runtime.setTimeout(resolve, milliseconds))
}

/** Resolves in a later turn of the event loop, in which Node has read from its sockets. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => runtime.setImmediate(resolve))
}
