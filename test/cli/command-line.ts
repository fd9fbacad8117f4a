import { PassThrough, Writable } from 'node:stream'
import { defineCollection, text } from 'rowgate'
import { apiKeys, httpBasic } from 'rowgate/security'
import { expect } from 'vitest'
import { runCommandLine } from '../../src/cli/program.ts'
import type { Builder } from '../../src/entries/deployment.ts'
import { startDeployed } from '../kit/deployed.ts'
import { cheapCost } from '../kit/keys.ts'
import { openService } from '../kit/stage.ts'

/** What a command printed, and its exit code. */
export interface Run {
  readonly code: number
  readonly output: string
  readonly messages: string
}

/** The terminal and the environment of a command. */
export interface Scene {
  /** What a user types in the terminal: each answer as soon as its question appears. */
  readonly answers?: readonly (readonly [question: string, keys: string])[]
  /** What is piped into the command. */
  readonly input?: string
  /** The width of the terminal that shows the results. Default: they go into a pipe. */
  readonly width?: number
  readonly environment?: Readonly<Record<string, string>>
  /** Aborted as Ctrl+C would. */
  readonly stopping?: AbortSignal
  readonly workingFolder?: string
}

export const enter = '\r'
export const down = '\x1b[B'
export const controlC = '\x03'
export const controlD = '\x04'

export const startOfTime = Date.parse('2026-03-01T09:30:00Z')

/** Opens a service with API keys and passwords in memory, and returns it with `run`, which runs commands on it. */
export function openCommandLine({
  providers = ['API Key'],
  disabled = [],
}: { providers?: readonly string[]; disabled?: readonly string[] } = {}) {
  const customers = defineCollection({ key: 'customerId', fields: { customerId: text() } })
  let clock = startOfTime
  const now = (): Date => new Date(clock)
  const { service } = openService({
    applications: { sales: { collections: { customers } } },
    security: [
      ...providers.map((name, at) =>
        apiKeys({ name, priority: at + 1, enabled: !disabled.includes(name) }),
      ),
      httpBasic({ name: 'Password', priority: 9, cost: cheapCost }),
    ],
    now,
  })
  let closed = 0
  const loadService = async () => ({
    keys: service.keys,
    users: service.users,
    ready: service.ready,
    close: async () => {
      closed++
    },
  })

  return {
    service,
    closed: () => closed,
    later: (minutes: number) => void (clock += minutes * 60_000),
    run: (line: readonly string[], scene: Scene = {}) =>
      runScene(line, scene, { now, loadService }),
  }
}

type Program = Parameters<typeof runCommandLine>[1]
type Rest = Pick<Program, 'now' | 'loadService'> & Partial<Pick<Program, 'loadParts'>>

/** Runs a command that needs no service. */
export function runAlone(line: readonly string[], scene: Scene = {}): Promise<Run> {
  return runScene(line, scene, {
    now: () => new Date(startOfTime),
    loadService: () => Promise.reject(new Error('A service was loaded.')),
  })
}

/** Starts a service with deployment, and returns it with `run`, which runs `rowgate release ...` against it. */
export async function openReleases(builder?: Builder) {
  const deployed = await startDeployed(builder)
  const { url, key } = deployed
  return {
    ...deployed,
    run: (line: readonly string[], scene?: Scene) => runRelease(line, { url, key, ...scene }),
  }
}

/** Runs `rowgate release ...` with an address and a key. */
export async function runRelease(
  line: readonly string[],
  { url, key, ...scene }: Scene & { readonly url: string; readonly key: string },
): Promise<Run> {
  const environment = { ROWGATE_KEY: key, ...scene.environment }
  const run = await runAlone(['release', ...line, '--url', url], { ...scene, environment })
  expect(run.output + run.messages).not.toContain(key)
  return run
}

export async function runScene(line: readonly string[], scene: Scene, rest: Rest): Promise<Run> {
  const { answers, width, environment = {}, workingFolder = '.' } = scene
  const input = Object.assign(new PassThrough(), {
    isTTY: answers !== undefined,
    setRawMode: () => undefined,
  })
  if (answers === undefined) input.end(scene.input ?? '')
  const output = collector(width === undefined ? {} : { isTTY: true, columns: width })
  const messages = collector(answers === undefined ? {} : { isTTY: true, columns: 100 })
  typeAnswers(messages, input, answers ?? [])
  const code = await runCommandLine(line, {
    input,
    output: output.stream,
    messages: messages.stream,
    environment,
    workingFolder,
    stopping: () => scene.stopping ?? new AbortController().signal,
    loadParts: () => Promise.reject(new Error('There are no parts.')),
    version: '1.2.3',
    ...rest,
  })
  return { code, output: output.text(), messages: messages.text() }
}

function collector(about: { readonly isTTY?: boolean; readonly columns?: number }) {
  let text = ''
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _, done) {
      text += chunk
      stream.emit('written')
      done()
    },
  })
  return { stream: Object.assign(stream, about), text: () => text }
}

function typeAnswers(
  messages: ReturnType<typeof collector>,
  input: PassThrough,
  answers: readonly (readonly [string, string])[],
): void {
  const left = [...answers]
  let read = 0
  messages.stream.on('written', () => {
    const [next] = left
    const at = next === undefined ? -1 : messages.text().indexOf(next[0], read)
    if (next === undefined || at < 0) return
    read = at + next[0].length
    left.shift()
    // The question must be displayed before its answer is typed.
    setImmediate(() => input.write(next[1]))
  })
}
