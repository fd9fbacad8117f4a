import { join } from 'node:path'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { runInShell, startExample, type RunningExample } from '../kit/process.ts'

/** A response of the service. */
export interface Answer {
  readonly item?: Readonly<Record<string, unknown>>
  readonly items?: readonly Readonly<Record<string, unknown>>[]
  readonly count?: number | null
  readonly message: string | null
  readonly validations: readonly Readonly<Record<string, unknown>>[]
  readonly status: number
}

/** The example service in a process of its own, with the lines that it prints. */
export interface RunningNorthwind extends RunningExample {
  /** The line that shows something, as it was printed. */
  line(shows: string): string
  /** What that line prints in a shell. */
  run(shows: string): Promise<string>
  answer(shows: string): Promise<Answer>
  /** How many lines there are. */
  readonly lines: number
}

/** An empty folder for the database. */
export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'northwind-'))
}

/** Starts the service and waits until it has printed all. */
export async function startNorthwind(
  data: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningNorthwind> {
  const started = startExample('northwind/main.ts', { DATA: data, PORT: '0', ...env })
  await started.printed(/Ctrl\+C/)
  const printed = started.output().matchAll(/^# (.*)\n(.+)$/gm)
  const lines = new Map(Array.from(printed, ([, shows = '', line = '']) => [shows, line]))
  const line = (shows: string): string => {
    const found = lines.get(shows)
    if (found === undefined) throw new Error(`No line shows "${shows}":\n${started.output()}`)
    return found
  }
  const run = (shows: string): Promise<string> => runInShell(line(shows))
  return {
    ...started,
    lines: lines.size,
    line,
    run,
    answer: async (shows) => JSON.parse(await run(shows)) as Answer,
  }
}
