import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { BuildError } from './build-error.ts'
import { outputLines } from './output-lines.ts'

/** A program to run, and its limits. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly folder: string
  /** The whole environment: nothing of this process is passed on. */
  readonly env: Readonly<Record<string, string>>
  /** What it reads from its standard input. */
  readonly input: string
  /** In milliseconds. */
  readonly timeout: number
  /** The most bytes of its output. */
  readonly outputLimit: number
  readonly line: (line: string) => void
}

/** Ends the program, for a reason that is thrown once it has ended. */
type Stop = (reason: unknown) => void

// What has left the group and keeps the pipes open can't be waited for.
const patience = 1_000

/**
 * Runs a program in a process group of its own and waits for its end. When it takes too long, writes too
 * much or `signal` is aborted, the whole group is ended. Nothing of the group is left either way.
 * Throws a BuildError unless it ends with exit code 0, and the signal's reason when that was aborted.
 */
export async function runProgram(program: Program, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const child = start(program)
  const ended = endOf(child)
  // Without a process there may be no streams either, and `ended` is a rejection.
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
  const timer = setTimeout(late, program.timeout)
  readOutput(child, program, stop)
  // It need not read its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(program.input)
  try {
    await untilClosed(child, group)
    if (failure !== undefined) throw failure.reason
    const problem = await ended
    if (problem !== undefined) throw new BuildError(`The build program ${problem}.`)
  } finally {
    clearTimeout(timer)
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

/** What went wrong, as far as the program itself can tell. */
function endOf(child: ChildProcessWithoutNullStreams): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new BuildError('The build program could not be started.', { cause })),
    )
    child.once('exit', (code, signal) => {
      if (signal !== null) resolve(`was ended by ${signal}`)
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

/** Waits for the end of the program, of all that it has started, and of their output. */
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
  await Promise.race([closed, delay(patience, undefined, { ref: false })])
  child.stdout.destroy()
  child.stderr.destroy()
  await group.gone(patience)
}

/** The processes of a program: itself and everything that it has started. */
interface ProcessGroup {
  /** Asks all of them to end, and ends them if the first one has not ended two seconds later. */
  stop(): void
  /** To be called at once when the first process has ended: ends what it has left running. */
  finish(): void
  /** Waits until none is left. What only awaits its burial is not waited for longer than that. */
  gone(milliseconds: number): Promise<void>
}

const grace = 2_000

/** The group of a process that was started detached. */
function processGroup(pid: number): ProcessGroup {
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
