import { PassThrough, Writable } from 'node:stream'
import { expect } from 'vitest'
import { runCommandLine } from '../../src/cli/program.ts'

/** A command line `rowgate serve ...` that is running. */
export interface ServingLine {
  readonly url: string
  /** The key that it printed, if any. */
  readonly key: string | undefined
  readonly output: () => string
  readonly messages: () => string
  /** Stops it as Ctrl+C would, and resolves to its exit code. */
  stop(): Promise<number>
}

/** Starts `rowgate serve` in this process, on any free port. Rejects with its messages if it does not start. */
export async function startServing(
  workingFolder: string,
  ...line: readonly string[]
): Promise<ServingLine> {
  const stopping = new AbortController()
  const [output, messages] = [collector(), collector()]
  let code: number | undefined
  const ended = runCommandLine(['serve', ...line, '--port', '0'], {
    input: new PassThrough(),
    output: output.stream,
    messages: messages.stream,
    environment: {},
    workingFolder,
    stopping: () => stopping.signal,
    loadService: () => Promise.reject(new Error('A service was loaded.')),
    loadParts: () => Promise.reject(new Error('There are no parts.')),
    now: () => new Date(),
    version: '1.2.3',
  }).then((result) => (code = result))
  await expect.poll(() => code !== undefined || output.text() !== '', { interval: 2 }).toBe(true)
  if (code !== undefined) throw new Error(messages.text())
  return {
    url: /at (http:\S+?)\/rest\/v1\//.exec(output.text())?.[1] ?? '',
    key: /shown only now: (\S+)/.exec(output.text())?.[1],
    output: output.text,
    messages: messages.text,
    stop: () => {
      stopping.abort()
      return ended
    },
  }
}

function collector() {
  let text = ''
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _, done) {
      text += chunk
      done()
    },
  })
  return { stream, text: () => text }
}
