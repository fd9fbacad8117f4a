#!/usr/bin/env node
import { createRequire } from 'node:module'
import { Writable } from 'node:stream'
import { loadDeployment, loadService } from './load-service.ts'
import { runProgram } from './program.ts'
import { messageOf } from './text.ts'

// The command line's own edge: the only file of it that knows the process.

const { version } = createRequire(import.meta.url)('rowgate/package.json') as { version: string }
const { stdin, stdout, stderr } = process

// What the service's module prints is no result: only `output` writes where results go.
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
        // A reader that went away, such as `head`, has what it wanted.
        if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') unwritten = error
        done()
      }),
  }),
  { isTTY: stdout.isTTY, columns: stdout.columns },
)

// A module that listens on a port that is taken fails outside of every promise that we hold.
/* eslint-disable no-restricted-syntax -- This process is ours. */
process.once('uncaughtException', (error) => {
  stderr.write(`rowgate: The module of the service failed: ${messageOf(error)}\n`)
  finish(1)
})

// Nor does anything tell of a module that waits for nothing.
process.once('beforeExit', () => {
  stderr.write('rowgate: The module of the service never finished loading.\n')
  finish(1)
})

function stopping(): AbortSignal {
  const control = new AbortController()
  // Only once: who asks again is obeyed at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      control.abort()
    })
  }
  return control.signal
}

function finish(code: number): void {
  output.end(() => {
    const loss = unwritten && `rowgate: The result could not be written: ${messageOf(unwritten)}\n`
    stderr.write(loss ?? '', () => process.exit(loss === undefined ? code : 1))
  })
}
/* eslint-enable no-restricted-syntax */

// A module that listens or keeps timers would not let the process end by itself.
finish(
  await runProgram(process.argv.slice(2), {
    input: stdin,
    output,
    messages: stderr,
    environment: process.env,
    workingFolder: process.cwd(),
    loadService,
    loadDeployment,
    stopping,
    now: () => new Date(),
    version,
  }),
)
