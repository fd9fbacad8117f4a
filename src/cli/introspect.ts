import { existsSync } from 'node:fs'
import { inspectApplications } from '../definition/check.ts'
import { compareDefinitions, type Difference } from '../schema/describe/compare-definitions.ts'
import { defineDatabase, type DefinedDatabase } from '../schema/describe/define-database.ts'
import { definitionJson, definitionText, noteLines } from '../schema/describe/definition-text.ts'
import { endpointName } from '../schema/describe/names.ts'
import { requiredArgument, type CommandContext, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import type { Database } from './database.ts'
import { loadDefinition } from './load-definition.ts'
import { openDatabase } from './open-database.ts'
import { openProgress } from './progress.ts'
import { placeFor, requireEnding, saveFile } from './save-file.ts'
import { errorMessage, printable } from './text.ts'
import { counted } from './time.ts'

/** Runs `rowgate introspect`: writes the definition of an existing database. */
export async function introspect(given: Given, context: CommandContext): Promise<void> {
  const named = requiredArgument(given, 'database')
  const out = given.one('out')
  const isJson = context.json || /\.json$/i.test(out ?? '')
  if (out !== undefined && context.json && !/\.json$/i.test(out))
    throw new UsageError('--json writes JSON: choose a name that ends with .json.')
  requireEnding(out, ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs', 'json'])
  // Before all rows are read, which may take minutes.
  const place =
    out === undefined
      ? undefined
      : await placeFor(out, context.workingFolder, { writes: 'definition', reads: [named] })
  const database = await openDatabase(named, given, context)
  try {
    await write(database, { given, out, place, isJson }, context)
  } finally {
    await database.close()
  }
}

/** What is written, and where. */
interface Written {
  readonly given: Given
  readonly out: string | undefined
  /** The path of `out`. */
  readonly place: string | undefined
  readonly isJson: boolean
}

async function write(
  database: Database,
  { given, out, place: path, isJson }: Written,
  context: CommandContext,
): Promise<void> {
  const { name, source, folded } = database
  const application = applicationName(given.one('application'), name)
  const progress = openProgress(context)
  const description = await database
    .describe(given.all('table'), (table, number, tables) => {
      progress.show(`${printable(table)}: reading all rows (table ${number} of ${tables})`)
    })
    .finally(() => {
      progress.end()
    })
  const defined = defineDatabase(description, folded)
  for (const line of noteLines(defined.notes)) context.messages.write(`${line}\n`)
  const text = isJson
    ? definitionJson(defined, application)
    : definitionText(defined, { application, source })
  if (out === undefined || path === undefined) {
    context.output.write(text)
    return
  }
  if (existsSync(path) && !given.has('force')) {
    await compare(out, defined, { ...context, folded })
    return
  }
  await saveFile(path, Buffer.from(text))
  const count = Object.keys(defined.collections).length
  context.result(
    { file: path, collections: count, notes: defined.notes },
    () => `Wrote ${counted(count, 'collection')} to ${printable(out)}.`,
  )
}

function applicationName(named: string | undefined, database: string): string {
  const name = named ?? endpointName(database, 'database')
  const [mistake] = inspectApplications({ [name]: { collections: {} } }).mistakes
  if (mistake === undefined) return name
  const hint = named === undefined ? ' Choose another name with --application.' : ''
  throw new UsageError(`The application name ${printable(name)}: ${mistake.advice}.${hint}`)
}

async function compare(
  out: string,
  { collections }: DefinedDatabase,
  context: CommandContext & Pick<Database, 'folded'>,
): Promise<void> {
  const differences = compareDefinitions(
    await existingDefinition(out, context),
    collections,
    context.folded,
  )
  context.result(differences, () =>
    differences.length === 0
      ? `${printable(out)} agrees with the database.`
      : differences.map(lineOf).join('\n'),
  )
  if (differences.length > 0)
    throw new CommandError(
      `${counted(differences.length, 'difference')}. Edit ${printable(out)}, or replace it with --force.`,
    )
}

async function existingDefinition(out: string, { workingFolder }: CommandContext) {
  try {
    return await loadDefinition(out, workingFolder)
  } catch (error) {
    throw new CommandError(
      `${printable(out)} exists and cannot be compared: ${errorMessage(error)} To replace it, add --force.`,
    )
  }
}

const signs = { new: '+', missing: '-', changed: '~' }

function lineOf({ place, kind, text }: Difference): string {
  return printable(`${signs[kind]} ${place}: ${text}`)
}
