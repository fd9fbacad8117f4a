#!/usr/bin/env node
import { createRequire } from 'node:module'
import { Writable } from 'node:stream'
import { loadParts, loadService } from './load-service.ts'
import { runCommandLine } from './program.ts'
import { errorMessage } from './text.ts'

// The only file of the command line that uses the process.

const { version } = createRequire(import.meta.url)('rowgate/package.json') as { version: string }
const { stdin, stdout, stderr } = process

// Output of the service's module is not a result: only `output` writes to standard output.
const print = stdout.write.bind(stdout)
stdout.write = stderr.write.bind(stderr)
stdout.on('error', () => undefined)
stderr.on('error', () => undefined)

let unwritten: Error | undefined
const output = Object.assign(
  new Writable({
    decodeStrings: false,
    write: (chunk: string, _, done) =>
      void print(chunk, (error) => {
        // A reader that closed the pipe, such as `head`, needs no more output.
        if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') unwritten = error
        done()
      }),
  }),
  { isTTY: stdout.isTTY, columns: stdout.columns },
)

// For example a module that listens on a port in use: that error rejects no promise of the command line.
/* eslint-disable no-restricted-syntax -- The command line owns this process. */
process.once('uncaughtException', (error) => {
  stderr.write(`rowgate: The module of the service failed: ${errorMessage(error)}\n`)
  finish(1)
})

// A module whose top-level await never resolves ends the process silently.
process.once('beforeExit', () => {
  stderr.write('rowgate: The module of the service did not finish loading.\n')
  finish(1)
})

function stopping(): AbortSignal {
  const control = new AbortController()
  // Only once: a second signal ends the process immediately.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      control.abort()
    })
  }
  return control.signal
}

function finish(code: number): void {
  output.end(() => {
    const loss =
      unwritten && `rowgate: The result could not be written: ${errorMessage(unwritten)}\n`
    stderr.write(loss ?? '', () => process.exit(loss === undefined ? code : 1))
  })
}
/* eslint-enable no-restricted-syntax */

// Servers and timers of the module would keep the process alive.
finish(
  await runCommandLine(process.argv.slice(2), {
    input: stdin,
    output,
    messages: stderr,
    environment: process.env,
    workingFolder: process.cwd(),
    loadService,
    loadParts,
    stopping,
    now: () => new Date(),
    version,
  }),
)
