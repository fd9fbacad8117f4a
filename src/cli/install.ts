import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Change } from '../deployment/install/changes.ts'
import { installPackage, type Installation } from '../deployment/install/install-package.ts'
import { rollback } from '../deployment/install/rollback.ts'
import { sqliteStorage } from '../storage/sqlite/sqlite.ts'
import { questions, type Questions } from './ask.ts'
import { requiredOf, type CommandContext, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import type { Column } from './table.ts'
import { errorMessage, printable } from './text.ts'

/** Runs `rowgate install`. */
export async function install(given: Given, context: CommandContext): Promise<void> {
  const place = resolve(context.workingFolder, requiredOf(given, 'folder', 'folder'))
  if (given.argument === undefined || given.argument === '')
    throw new UsageError('Missing argument: <package>.')
  const dryRun = given.has('dry-run')
  const needsAnswer = !dryRun && !given.has('yes') && !context.json
  if (needsAnswer && !context.interactive)
    throw new UsageError('Without a terminal, add --yes to confirm, or --dry-run.')
  const bytes = await bytesOf(given.argument, context)
  const trust = await Promise.all(given.all('trust').map((file) => bytesOf(file, context)))
  const options = {
    folder: place,
    ...(trust.length > 0 && { trust: trust.map((key) => key.toString()) }),
  }
  const plan = await installPackage(bytes, { ...options, dryRun: true })
  if (!context.json) showPlan(plan, context)
  if (dryRun) {
    if (context.json) context.result(plan, () => '')
    else showSchema(plan, context)
    return
  }
  const { name, version } = plan.release
  const ask = needsAnswer ? questions(context) : undefined
  for (const concern of concernsOf(plan).filter(({ flag }) => !given.has(flag))) {
    if (ask === undefined)
      throw new CommandError(printable(`${concern.fact} Confirm this with --${concern.flag}.`))
    await confirmed(ask, concern.question)
  }
  if (ask !== undefined) await confirmed(ask, `Install ${name} ${version}?`)
  const database = given.one('sqlite')
  const done = await installPackage(bytes, {
    ...options,
    // The user has confirmed only what the plan showed.
    withoutCode: plan.code.length > 0,
    allowOlder: plan.newer !== null,
    ...(database !== undefined && {
      storage: sqliteStorage(resolve(context.workingFolder, database), { ensureSchema: 'columns' }),
    }),
  })
  if (context.json) context.result(done, () => '')
  context.note(
    printable(
      done.installed
        ? `Installed ${name} ${version}. Restart the service to use it.`
        : `${name} ${version} is already installed.`,
    ),
  )
  if (database === undefined && Object.keys(done.ddl).length > 0)
    context.note(
      'No tables were created: run the DDL of --dry-run, or name a database with --sqlite.',
    )
}

/** Runs `rowgate rollback`. */
export async function rollBack(given: Given, context: CommandContext): Promise<void> {
  const place = resolve(context.workingFolder, requiredOf(given, 'folder', 'folder'))
  if (context.interactive && !given.has('yes'))
    await confirmed(questions(context), 'Restore the release before the installed one?')
  const done = await rollback(place)
  const { name, version } = done.release
  context.result(done, () => printable(`Restored ${name} ${version}.`))
  context.note('Restart the service to use it. Tables were not changed.')
}

interface Concern {
  readonly flag: string
  readonly fact: string
  readonly question: string
}

/** What must be confirmed separately: `--yes` is not sufficient. */
function concernsOf({ release, code, newer }: Installation): readonly Concern[] {
  const concerns: Concern[] = []
  if (code.length > 0)
    concerns.push({
      flag: 'without-code',
      fact: `The package does not include this code: ${code.map(shortPlace).join(', ')}. A service that publishes these collections must supply it with withCode(...).`,
      question: 'Install without this code?',
    })
  if (newer !== null)
    concerns.push({
      flag: 'allow-older',
      fact: `${release.version} (${release.releaseDate}) is older than the installed ${newer.version} (${newer.releaseDate}).`,
      question: `Replace the newer release ${newer.version} by ${release.version}?`,
    })
  return concerns
}

/** Returns `sales/orders.rows` for `applications.sales.collections.orders.rows`. */
function shortPlace(place: string): string {
  return place.replace(/^applications\./, '').replace('.collections.', '/')
}

async function confirmed(ask: Questions, question: string): Promise<void> {
  if (!(await ask.confirm(question))) throw new CommandError('Nothing was changed.')
}

function showPlan(plan: Installation, context: CommandContext): void {
  const { release, signature, changes, tables } = plan
  context.table(changeColumns, changes, 'The definitions do not change.')
  context.table(tableColumns, Object.entries(tables), 'The package has no collections.')
  const signed = { verified: 'signed by a trusted key', unchecked: 'signed, but not verified' }
  const how = signature === 'absent' ? 'not signed' : signed[signature]
  context.note(printable(`${release.name} ${release.version}, ${how}.`))
  for (const { fact } of concernsOf(plan)) context.note(printable(fact))
}

function showSchema({ ddl }: Installation, context: CommandContext): void {
  for (const [dialect, text] of Object.entries(ddl)) {
    const lines = text.trimEnd().split('\n').map(printable)
    context.result(undefined, () => [`-- DDL for ${printable(dialect)}`, ...lines].join('\n'))
  }
}

async function bytesOf(file: string, context: CommandContext): Promise<Buffer> {
  try {
    return await readFile(resolve(context.workingFolder, file))
  } catch (error) {
    throw new CommandError(`${printable(file)} could not be read: ${errorMessage(error)}`)
  }
}

const changeColumns: readonly Column<Change>[] = [
  { title: 'CHANGE', text: ({ kind }) => kind, whole: true },
  { title: 'WHAT', text: ({ what }) => what, whole: true },
  { title: 'PLACE', text: ({ place }) => place },
  { title: 'OPTIONS', text: ({ options }) => options.join(', ') || '-', spare: true },
]

const tableColumns: readonly Column<readonly [string, string]>[] = [
  { title: 'COLLECTION', text: ([collection]) => collection, whole: true },
  { title: 'TABLE', text: ([, table]) => table },
]
