import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'tsup'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { root } from '../../.ci/entries.ts'

/** A process that was started. */
export interface Running {
  /** Waits for a word of its output, and returns the value behind it. */
  said(word: string): Promise<string>
  /** Returns all values of a word so far. */
  all(word: string): readonly string[]
  signal(name: NodeJS.Signals): void
  /** Ends its input, and resolves to how it ends: its exit code, or the signal. */
  stop(): Promise<number | NodeJS.Signals | null>
  readonly ended: Promise<number | NodeJS.Signals | null>
}

/** Programs of their own, for the tests of a file. */
export interface Programs<Order> {
  /** Starts a program with an order as its argument, in JSON. */
  start(order: Order): Running
  /** Creates a folder that is removed after the tests of the file. */
  folder(): string
}

/**
 * Bundles a program of TypeScript before the tests of a file, so that its processes start quickly. `options` are those
 * of Node.
 */
export function programs<Order>(entry: string, options: readonly string[] = []): Programs<Order> {
  let home = ''
  beforeAll(async () => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'rowgate-processes-')))
    symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'))
    await build({
      entry: { program: entry },
      outDir: home,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      removeNodeProtocol: false,
      // Everything in one file, so that a process starts in no time.
      noExternal: [/./],
      // Packages that are CommonJS call require.
      banner: {
        js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
      },
      config: false,
      silent: true,
      dts: false,
      clean: false,
    })
  }, 60_000)
  afterAll(() => rmSync(home, { recursive: true, force: true }))
  return {
    start: (order) => {
      const names = ['program.mjs', 'program.js'].map((name) => join(home, name))
      return run([...options, names.find((name) => existsSync(name)) ?? ''], order)
    },
    folder: () => mkdtempSync(join(home, 'case-')),
  }
}

function run(program: readonly string[], order: unknown): Running {
  const child = spawn(process.execPath, [...program, JSON.stringify(order)])
  onTestFinished(() => void child.kill('SIGKILL'))
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  child.stdin.on('error', () => undefined)
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code))
  })
  const all = (word: string): readonly string[] =>
    output
      .split('\n')
      .flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []))
  return {
    all,
    ended: ended.then((how) => {
      expect(errors).toBe('')
      return how
    }),
    said: async (word) => {
      await expect.poll(() => all(word).length + errors.length, { interval: 5 }).toBeGreaterThan(0)
      expect(errors).toBe('')
      return all(word)[0] ?? ''
    },
    signal: (name) => void child.kill(name),
    stop: () => {
      child.stdin.end()
      return ended
    },
  }
}
