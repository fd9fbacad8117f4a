import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { pause, runtime, unref, type Timer } from '../../runtime.ts'
import { BuildError } from './build-error.ts'
import { stripVTControlCharacters } from 'node:util'

/** A program and its limits. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly folder: string
  /** The complete environment. Variables of this process are not inherited. */
  readonly env: Readonly<Record<string, string>>
  /** The content of standard input. */
  readonly input: string
  /** In milliseconds. */
  readonly timeout: number
  /** The maximum size of the output, in bytes. */
  readonly outputLimit: number
  /** Called for each line of output. */
  readonly line: (line: string) => void
}

/** Terminates the program. `reason` is thrown after it has ended. */
type Stop = (reason: unknown) => void

// Milliseconds. A process that has left the group may keep the pipes open indefinitely.
const maxCloseWait = 1_000

/**
 * Runs a program in its own process group and waits until it ends. The group is terminated on time-out,
 * when the output exceeds its limit, and when `signal` is aborted; no process of it remains in any case.
 * Throws a BuildError unless the exit code is 0, and the reason of `signal` once that is aborted.
 */
export async function runProgram(program: Program, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const child = start(program)
  const ended = endOf(child)
  // Without a process there may be no streams. `ended` rejects.
  if (child.pid === undefined) {
    await ended
    return
  }

  const group = processGroup(child.pid)
  let failure: { readonly reason: unknown } | undefined
  const stop: Stop = (reason) => {
    failure ??= { reason }
    group.stop()
  }
  const aborted = (): void => stop(signal.reason)
  const seconds = program.timeout / 1_000
  const late = (): void => stop(new BuildError(`The build program took longer than ${seconds} s.`))
  signal.addEventListener('abort', aborted)
  const timer = runtime.setTimeout(late, program.timeout)
  readOutput(child, program, stop)
  // The program may close standard input without reading it.
  child.stdin.on('error', () => undefined)
  child.stdin.end(program.input)
  try {
    await untilClosed(child, group)
    if (failure !== undefined) throw failure.reason
    const problem = await ended
    if (problem !== undefined) throw new BuildError(`The build program ${problem}.`)
  } finally {
    runtime.clearTimeout(timer)
    signal.removeEventListener('abort', aborted)
  }
}

function start({ command, args, folder, env }: Program): ChildProcessWithoutNullStreams {
  try {
    return spawn(command, args, { cwd: folder, env, detached: true, stdio: 'pipe' })
  } catch (cause) {
    throw new BuildError('The build program could not be started.', { cause })
  }
}

/** Resolves to a description of an unsuccessful exit, or to undefined for exit code 0. */
function endOf(child: ChildProcessWithoutNullStreams): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new BuildError('The build program could not be started.', { cause })),
    )
    child.once('exit', (code, signal) => {
      if (signal !== null) resolve(`was terminated by ${signal}`)
      else resolve(code === 0 ? undefined : `ended with exit code ${String(code)}`)
    })
  })
}

function readOutput(
  child: ChildProcessWithoutNullStreams,
  { outputLimit, line }: Program,
  stop: Stop,
): void {
  const excess = new BuildError(`The build program wrote more than ${outputLimit} bytes of output.`)
  let count = 0
  for (const stream of [child.stdout, child.stderr]) {
    const lines = outputLines(line)
    const guarded = (work: () => void): void => {
      try {
        work()
      } catch (error) {
        stop(error)
      }
    }
    stream.on('data', (bytes: Uint8Array) => {
      count += bytes.length
      if (count > outputLimit) stop(excess)
      else guarded(() => lines.push(bytes))
    })
    stream.on('end', () => guarded(() => lines.end()))
    stream.on('error', stop)
  }
}

/** Waits for the end of the program, of its child processes, and of their output. */
async function untilClosed(
  child: ChildProcessWithoutNullStreams,
  group: ProcessGroup,
): Promise<void> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await new Promise<void>((resolve) => {
    child.once('exit', () => {
      group.finish()
      resolve()
    })
  })
  const late = new Promise<void>((resolve) => {
    unref(runtime.setTimeout(resolve, maxCloseWait))
  })
  await Promise.race([closed, late])
  child.stdout.destroy()
  child.stderr.destroy()
  await group.waitUntilGone(maxCloseWait)
}

/** The processes of a program: itself and its child processes. */
interface ProcessGroup {
  /** Sends SIGTERM to all processes, and SIGKILL two seconds later unless the program has ended. */
  stop(): void
  /** Kills the remaining child processes. Must be called immediately after the program has ended. */
  finish(): void
  /** Waits until no process is left. Zombie processes are waited for at most this time. */
  waitUntilGone(milliseconds: number): Promise<void>
}

const killDelay = 2_000

/** Returns the process group of a process that was started with `detached`. */
function processGroup(pid: number): ProcessGroup {
  let killTimer: Timer | undefined
  let finished = false

  /** Sends a signal to all processes. Returns false if there is none. */
  function send(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-pid, signal)
    } catch {
      return false
    }
  }

  return {
    stop() {
      // After the end, another process may have the same identifier.
      if (finished || killTimer !== undefined) return
      send('SIGTERM')
      killTimer = runtime.setTimeout(() => send('SIGKILL'), killDelay)
    },
    finish() {
      finished = true
      runtime.clearTimeout(killTimer)
      send('SIGKILL')
    },
    async waitUntilGone(milliseconds) {
      for (let waited = 0; waited < milliseconds && send(0); waited += 10) await pause(10)
    },
  }
}

/** The maximum number of characters of a line in the log. */
const maxLineLength = 1_000

/** Splits the output of a program into lines. */
interface OutputLines {
  push(bytes: Uint8Array): void
  /** Emits the last line if it did not end with a line break. */
  end(): void
}

/**
 * Calls `onLine` for each non-empty line of UTF-8 output, without control characters and terminal escape
 * sequences, cut at 1,000 characters. At most twice as many characters are buffered.
 */
function outputLines(onLine: (line: string) => void): OutputLines {
  const decoder = new TextDecoder()
  let line = ''

  function add(text: string): void {
    // Twice the limit, since control characters are removed later.
    if (line.length <= 2 * maxLineLength) line += text.slice(0, 2 * maxLineLength)
  }

  function finish(): void {
    const shown = stripVTControlCharacters(line).replace(
      /[\p{Cc}\u2028\u2029]|[\u202a-\u202e\u2066-\u2069]/gu,
      '',
    )
    line = ''
    if (shown === '') return
    onLine(
      shown.length > maxLineLength ? `${shown.slice(0, maxLineLength).toWellFormed()}…` : shown,
    )
  }

  function split(text: string): void {
    const [first = '', ...others] = text.split(/\r\n|[\r\n]/)
    add(first)
    for (const next of others) {
      finish()
      add(next)
    }
  }

  return {
    push: (bytes) => split(decoder.decode(bytes, { stream: true })),
    end() {
      split(decoder.decode())
      finish()
    },
  }
}
