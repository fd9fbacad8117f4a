import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'tsup'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { root } from '../../.ci/entries.ts'

/** What a process has to do. */
export interface ProcessOrder {
  /** Stands in its lines of the log. */
  readonly name: string
  /** The database. */
  readonly file: string
  /** Each build that begins is a line: the release, the attempt, and the process. */
  readonly log: string
  readonly lease: number
  /** The one build that it asks for before it ends. Default: it works the queue until it is stopped. */
  readonly build?: 'release' | 'release-queue'
  /** The point at which it kills itself, counted from its request on. */
  readonly killAt?: number
  /** Milliseconds for which each of its builds blocks the event loop. */
  readonly block?: number
  /** A file that each of its builds waits for. */
  readonly until?: string
  /** How many milliseconds its clock is wrong. */
  readonly clock?: number
}

/** A process that was started. */
export interface Running {
  /** The value of a word, once it was said. */
  said(word: string): Promise<string>
  /** All values of a word so far. */
  all(word: string): readonly string[]
  signal(name: NodeJS.Signals): void
  /** Ends it, unless it has ended, and resolves to how it did. */
  stop(): Promise<number | NodeJS.Signals | null>
  readonly ended: Promise<number | NodeJS.Signals | null>
}

/** Makes processes startable in the tests of a file: their program is made one file first. */
export function processes(): { start(order: ProcessOrder): Running; folder(): string } {
  let home = ''
  beforeAll(async () => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'rowgate-processes-')))
    symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'))
    await build({
      entry: { program: join(import.meta.dirname, 'process-program.ts') },
      outDir: home,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      removeNodeProtocol: false,
      // Everything in one file, so that a process starts in no time.
      noExternal: [/./],
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
      return run(names.find((name) => existsSync(name)) ?? '', order)
    },
    folder: () => mkdtempSync(join(home, 'case-')),
  }
}

function run(program: string, order: ProcessOrder): Running {
  const child = spawn(process.execPath, [program, JSON.stringify(order)])
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
      await expect
        .poll(() => all(word).length + errors.length, { timeout: 15_000, interval: 5 })
        .toBeGreaterThan(0)
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

/** The builds that have begun, by release: the attempts, each with the process that made it. */
export function buildsIn(log: string): ReadonlyMap<string, readonly string[]> {
  const builds = new Map<string, string[]>()
  const text = existsSync(log) ? readFileSync(log, 'utf8') : ''
  for (const line of text.split('\n').filter((line) => line !== '')) {
    const [releaseId = '', ...rest] = line.split(' ')
    builds.set(releaseId, [...(builds.get(releaseId) ?? []), rest.join(' ')])
  }
  return builds
}
