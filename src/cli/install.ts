import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Change } from '../deployment/install/changes.ts'
import { installPackage, type Installation } from '../deployment/install/install-package.ts'
import { rollback } from '../deployment/install/rollback.ts'
import { sqliteStorage } from '../storage/sqlite.ts'
import { questions, type Questions } from './ask.ts'
import { requiredOf, type Command, type Desk, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import type { Column } from './table.ts'
import { messageOf, printable } from './text.ts'

const folder = { name: 'folder', value: 'folder', description: 'The folder of the releases' }

/** `rowgate install` and `rowgate rollback`: packages in a folder that a service reads. */
export const installCommands: readonly Command[] = [
  {
    name: 'install',
    argument: 'package',
    description: 'Verify a package, show what changes, and install it',
    options: [
      folder,
      {
        name: 'trust',
        value: 'file',
        description: 'A public key (PEM): only what it has signed is installed',
        repeats: true,
      },
      {
        name: 'sqlite',
        value: 'file',
        description: 'The database that gets the missing tables and columns',
      },
      { name: 'dry-run', description: 'Only show what would change, with the DDL' },
      { name: 'without-code', description: 'Install although the package lacks code' },
      { name: 'allow-older', description: 'Install although a newer release is installed' },
      { name: 'yes', description: 'Do not ask first' },
    ],
    withoutService: true,
    example: 'install shop-1.2.zip --folder installed --trust release.pub --sqlite shop.db',
    run: install,
  },
  {
    name: 'rollback',
    description: 'Go back to the release before the installed one',
    options: [folder, { name: 'yes', description: 'Do not ask first' }],
    withoutService: true,
    example: 'rollback --folder installed',
    run: goBack,
  },
]

async function install(given: Given, desk: Desk): Promise<void> {
  const place = resolve(desk.workingFolder, requiredOf(given, 'folder', 'folder'))
  if (given.argument === undefined || given.argument === '')
    throw new UsageError('Name the package: <package>.')
  const dryRun = given.has('dry-run')
  const asks = !dryRun && !given.has('yes') && !desk.json
  if (asks && !desk.interactive)
    throw new UsageError('There is no terminal to ask at: say --yes, or --dry-run.')
  const bytes = await bytesOf(given.argument, desk)
  const trust = await Promise.all(given.all('trust').map((file) => bytesOf(file, desk)))
  const options = {
    folder: place,
    ...(trust.length > 0 && { trust: trust.map((key) => key.toString()) }),
  }
  const plan = await installPackage(bytes, { ...options, dryRun: true })
  if (!desk.json) showPlan(plan, desk)
  if (dryRun) {
    if (desk.json) desk.result(plan, () => '')
    else showSchema(plan, desk)
    return
  }
  const { name, version } = plan.release
  const ask = asks ? questions(desk) : undefined
  for (const concern of concernsOf(plan).filter(({ flag }) => !given.has(flag))) {
    if (ask === undefined)
      throw new CommandError(printable(`${concern.fact} Confirm this with --${concern.flag}.`))
    await confirmed(ask, concern.question)
  }
  if (ask !== undefined) await confirmed(ask, `Install ${name} ${version}?`)
  const database = given.one('sqlite')
  const done = await installPackage(bytes, {
    ...options,
    // Only what the plan showed is confirmed.
    withoutCode: plan.code.length > 0,
    allowOlder: plan.newer !== null,
    ...(database !== undefined && {
      storage: sqliteStorage(resolve(desk.workingFolder, database), { ensureSchema: 'columns' }),
    }),
  })
  if (desk.json) desk.result(done, () => '')
  desk.note(
    printable(
      done.installed
        ? `Installed ${name} ${version}. A service has it from its next start on.`
        : `${name} ${version} is installed already.`,
    ),
  )
  if (database === undefined && Object.keys(done.ddl).length > 0)
    desk.note('No tables were made: run the DDL of --dry-run, or name a database with --sqlite.')
}

async function goBack(given: Given, desk: Desk): Promise<void> {
  const place = resolve(desk.workingFolder, requiredOf(given, 'folder', 'folder'))
  if (desk.interactive && !given.has('yes'))
    await confirmed(questions(desk), 'Go back to the release before the installed one?')
  const done = await rollback(place)
  const { name, version } = done.release
  desk.result(done, () => printable(`Back to ${name} ${version}.`))
  desk.note('A service has it from its next start on. Tables stay as they are.')
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
      fact: `The package does not bring this code: ${code.map(shortPlace).join(', ')}. A service that serves these collections has to supply it with withCode(...).`,
      question: 'Install without the code that is listed above?',
    })
  if (newer !== null)
    concerns.push({
      flag: 'allow-older',
      fact: `${release.version} (${release.releaseDate}) is older than the installed ${newer.version} (${newer.releaseDate}).`,
      question: `Replace the newer release ${newer.version} by ${release.version}?`,
    })
  return concerns
}

/** `sales/orders.rows` for `applications.sales.collections.orders.rows`. */
function shortPlace(place: string): string {
  return place.replace(/^applications\./, '').replace('.collections.', '/')
}

async function confirmed(ask: Questions, question: string): Promise<void> {
  if (!(await ask.confirm(question))) throw new CommandError('Nothing was changed.')
}

function showPlan(plan: Installation, desk: Desk): void {
  const { release, signature, changes, tables } = plan
  desk.table(changeColumns, changes, 'The definitions do not change.')
  desk.table(tableColumns, Object.entries(tables), 'The package has no collections.')
  const signed = { verified: 'signed by a trusted key', unchecked: 'signed, not checked' }
  const how = signature === 'absent' ? 'not signed' : signed[signature]
  desk.note(printable(`${release.name} ${release.version}, ${how}.`))
  for (const { fact } of concernsOf(plan)) desk.note(printable(fact))
}

function showSchema({ ddl }: Installation, desk: Desk): void {
  for (const [dialect, text] of Object.entries(ddl)) {
    const lines = text.trimEnd().split('\n').map(printable)
    desk.result(undefined, () => [`-- DDL for ${printable(dialect)}`, ...lines].join('\n'))
  }
}

async function bytesOf(file: string, desk: Desk): Promise<Buffer> {
  try {
    return await readFile(resolve(desk.workingFolder, file))
  } catch (error) {
    throw new CommandError(`${printable(file)} could not be read: ${messageOf(error)}`)
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
