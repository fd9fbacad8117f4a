import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createService, memoryStorage, openAccess, readApplications } from 'rowgate'
import type { StorageAdapter } from 'rowgate/storage'
import { runAlone, runScene, startOfTime, type Run } from '../cli/command-line.ts'
import {
  allowEverything,
  type DatabaseKind,
  type EmptyDatabase,
} from '../introspection/empty-databases.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { statementsOf, type MessageCase, type Report } from './message-case.ts'

/** An empty database, with the tables of a case. */
interface Stage {
  readonly database: EmptyDatabase
  /** The working folder of commands. It has the definition as `shop.json`. */
  readonly folder: string
  readonly collections: Readonly<Record<string, object>>
  readonly options: readonly string[]
}

/** Writes all messages of a case, without names that differ from run to run. */
export async function writeMessages(kind: DatabaseKind, one: MessageCase): Promise<string> {
  const folder = temporaryFolder()
  const database = await kind.start(folder)
  const { collections = {}, options = [] } = one
  try {
    await database.run(...statementsOf(one, kind))
    writeFileSync(join(folder, 'shop.json'), JSON.stringify({ shop: { collections } }))
    const stage = { database, folder, collections, options }
    const written: string[] = []
    for (const report of one.reports) written.push(...(await reports[report](stage)))
    return withoutNames([`## ${one.name}`, ...written].join('\n\n'), stage)
  } finally {
    await database.drop()
  }
}

/** Writes the messages of a case whose tables storage in memory creates. */
export async function writeMemoryMessages({ name, collections }: MessageCase): Promise<string> {
  const started = await startMessage(collections, memoryStorage())
  return [`## ${name}`, part('start', started)].join('\n\n')
}

const reports: Readonly<Record<Report, (stage: Stage) => Promise<readonly string[]>>> = {
  start: async (stage) => [part('start', await start(stage))],
  async fit(stage) {
    const message = await start(stage)
    const mistakes = new Set(message.split('\n- '))
    const isSaid = (line: string): boolean => mistakes.has(line.slice('-- '.length))
    const lines = textOf(await schema(stage, 'diff')).split('\n')
    const said = lines.filter(isSaid)
    const others = [...lines.filter((line) => !isSaid(line)), `${said.length} mistakes as above`]
    return [part('start', message), part('schema diff', others.join('\n'))]
  },
  columns: async (stage) => [
    part(`start with ensureSchema: 'columns'`, await start(stage, 'columns')),
  ],
  check,
  compare,
  async diff(stage) {
    const text = await schema(stage, 'diff')
    const json = await schema(stage, 'diff', '--json')
    const allowed = await schema(stage, 'diff', '--json', '--allow', 'nulls')
    return [
      part('schema diff', textOf(text)),
      part('schema diff --json', jsonOf(json, text.output)),
      ...(allowed.output === json.output
        ? []
        : [part('schema diff --json --allow nulls', jsonOf(allowed, text.output))]),
    ]
  },
  async apply(stage) {
    const some = await schema(stage, 'apply')
    const all = await schema(stage, 'apply', ...allowEverything)
    const left = await schema(stage, 'diff')
    return [
      part('schema apply', textOf(some)),
      part('schema apply, all kinds allowed', textOf(all)),
      part('schema diff then', textOf(left)),
      part('start then', await start(stage)),
    ]
  },
  async introspect({ database: { line }, folder }) {
    const run = await runAlone(['introspect', ...line, '--application', 'shop'], {
      workingFolder: folder,
    })
    const notes = run.messages.split('\n').filter((line) => line !== '')
    const isRepeated = notes.every((line) => run.output.includes(`// - ${line}\n`))
    return [part('introspect', textOf(isRepeated ? { ...run, messages: '' } : run))]
  },
}

async function compare({ database: { line }, folder }: Stage): Promise<readonly string[]> {
  const given = ['--application', 'shop', '--json', '--out', 'shop.json']
  const run = await runAlone(['introspect', ...line, ...given], { workingFolder: folder })
  return [part('introspect --out, where the definition exists', textOf(run))]
}

async function check(stage: Stage): Promise<readonly string[]> {
  const { inspect: _, ...plain } = stage.database.storage()
  const written = textOf(await runCheck(stage, stage.database.storage()))
  const read = textOf(await runCheck(stage, plain))
  return [
    part('check', written),
    ...(written === read ? [] : [part('check, if the storage only reads rows', read)]),
  ]
}

function part(title: string, text: string): string {
  return `--- ${title}\n${text.trimEnd()}`
}

async function start({ database, collections }: Stage, ensureSchema?: 'columns'): Promise<string> {
  return startMessage(collections, database.storage(ensureSchema))
}

/** Starts a service, and returns the message of its error. */
async function startMessage(
  collections: MessageCase['collections'],
  storage: StorageAdapter,
): Promise<string> {
  try {
    const service = openService(collections, storage)
    try {
      await service.ready()
      return 'It starts.'
    } finally {
      await service.close()
    }
  } catch (error) {
    return (error as Error).message
  }
}

function openService(collections: MessageCase['collections'] = {}, storage: StorageAdapter) {
  const applications = readApplications({ shop: { collections } })
  return createService({ applications, storage, security: openAccess(), report: () => undefined })
}

function runCheck({ collections, folder }: Stage, storage: StorageAdapter): Promise<Run> {
  const loadService = () => Promise.resolve(openService(collections, storage))
  const program = { now: () => new Date(startOfTime), loadService }
  return runScene(['check', './shop.ts'], { workingFolder: folder }, program)
}

function schema(
  { database: { line }, folder, options }: Stage,
  work: 'diff' | 'apply',
  ...further: readonly string[]
): Promise<Run> {
  const all = ['schema', work, 'shop.json', '--storage', ...line, ...options, ...further]
  return runAlone(all, { workingFolder: folder })
}

/** Returns what a command has written, with its exit code if it is not 0. */
function textOf({ code, output, messages }: Run): string {
  const end = code === 0 ? '' : `exit code ${code}`
  return [output, messages, end]
    .map((text) => text.trimEnd())
    .filter((text) => text !== '')
    .join('\n')
}

interface Changes {
  readonly changes: readonly Change[]
  readonly left: readonly Change[]
  readonly mistakes: readonly string[]
}

interface Change {
  readonly kind: string
  readonly table: string
  readonly description: string
  readonly statements: readonly string[]
}

/** Returns the changes of JSON, without what the text has also. */
function jsonOf(run: Run, text: string): string {
  if (!run.output.startsWith('{')) return textOf(run)
  const { changes, left, mistakes, ...others } = JSON.parse(run.output) as Changes
  const listed = (list: readonly Change[]): readonly string[] =>
    list.map(({ kind, table, description, statements, ...more }) =>
      [
        `${kind} ${table}: ${description}${membersOf(more)}`,
        ...statements.filter((each) => !text.includes(each)),
      ].join('\n'),
    )
  const written = mistakes.filter((each) => text.includes(`-- ${each.replaceAll('\n', '\n-- ')}`))
  return [
    ...listed(changes),
    ...(left.length > 0 ? ['left:', ...listed(left)] : []),
    ...mistakes.filter((each) => !written.includes(each)).map((each) => `mistake: ${each}`),
    `${written.length} mistakes as above${membersOf(others)}`,
  ].join('\n')
}

function membersOf(others: object): string {
  return Object.keys(others).length === 0 ? '' : ` ${JSON.stringify(others)}`
}

function withoutNames(text: string, { database: { line }, folder }: Stage): string {
  const [place, ...options] = line
  const name = options.at(-1) ?? new URL(place, 'file:').pathname.slice(1)
  const names: readonly (readonly [string, string])[] = [
    [folder, '<folder>'],
    // The password is not shown.
    [place, '<place>'],
    [place.replace(':@', '@'), '<place>'],
    [name, '<name>'],
  ]
  // MariaDB names the copy of a table that it changes.
  const plain = text.replace(/#sql-alter-[0-9a-f-]+/g, '#sql-alter').replaceAll('\0', '\\0')
  return names.reduce((result, [own, shown]) => result.replaceAll(own, shown), plain)
}
