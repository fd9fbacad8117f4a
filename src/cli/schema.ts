import { withFills } from './fill.ts'
import { publishApplications } from '../definition/publish-applications.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { SchemaChange, SchemaChangeKind, SchemaDiff } from '../schema/changes.ts'
import { networkFailures } from '../storage/pool/failure.ts'
import { requiredArgument, requiredOf, type CommandContext, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import type { DatabaseSchema } from './database.ts'
import { loadDefinition, withMistakes } from './load-definition.ts'
import { openDatabase } from './open-database.ts'
import { openProgress } from './progress.ts'
import { errorMessage, printable } from './text.ts'
import { counted } from './time.ts'
import { isUnavailable } from './unavailable.ts'

// A column that the definition does not name does no harm, and neither does one that allows null: saves are checked.
const needed = new Set<SchemaChangeKind>(['add', 'rename', 'rebuild', 'nulls'])

/** Runs `rowgate schema diff`. */
export async function showDiff(given: Given, context: CommandContext): Promise<void> {
  const accepted = given.all('allow') as SchemaChangeKind[]
  const kinds = new Set<SchemaChangeKind>(['add', 'rename', 'rebuild', ...accepted])
  const diff = await onSchema(given, context, 'existing', ({ schema, collections }) =>
    schema.diff(collections, kinds),
  )
  const { changes, left, mistakes } = diff
  context.result(diff, () => {
    const lines = [...changes, ...left].flatMap(linesOf)
    return [...lines, ...mistakeLines(diff)].join('\n') || 'The database fits the definition.'
  })
  if (changes.length + mistakes.length > 0 || left.some(({ kind }) => needed.has(kind))) {
    throw new CommandError('The database does not fit the definition.')
  }
}

/** Runs `rowgate schema apply`. */
export async function applyDiff(given: Given, context: CommandContext): Promise<void> {
  const allowed = new Set<SchemaChangeKind>(['add', ...(given.all('allow') as SchemaChangeKind[])])
  const { applied, shown } = await onSchema(given, context, 'any', async (subject) => {
    const { schema, collections, shown: named } = subject
    const progress = openProgress(context)
    const options = {
      allowed,
      copy: given.one('copy'),
      now: context.now(),
      progress: (step: string) => {
        progress.show(printable(step))
      },
    }
    try {
      return { applied: await schema.apply(collections, options), shown: named }
    } catch (error) {
      throw isNotAnswered(error)
        ? new CommandError(`${named}: ${reasonOf(error)}. ${afterNoAnswer}`)
        : error
    } finally {
      progress.end()
    }
  })
  const { changes, left, mistakes, copy } = applied
  context.result(applied, () =>
    [
      ...changes.map(({ description }) => printable(description)),
      `Made ${counted(changes.length, 'change')} of ${shown}.`,
      ...(copy === null ? [] : [`The file as it was: ${printable(copy)}`]),
      ...left.map(
        ({ kind, description }) => `Not made without --allow ${kind}: ${printable(description)}`,
      ),
      ...mistakeLines(applied),
    ].join('\n'),
  )
  if (mistakes.length > 0 || left.some(({ kind }) => needed.has(kind))) {
    throw new CommandError('The database does not fit the definition yet.')
  }
}

function linesOf({ kind, description, statements }: SchemaChange): readonly string[] {
  const needs = kind === 'add' ? '' : ` (needs --allow ${kind})`
  const lines = statements.flatMap((statement) => statement.split('\n')).map(printable)
  return [`-- ${printable(description)}${needs}`, ...lines, '']
}

function mistakeLines({ mistakes }: SchemaDiff): readonly string[] {
  return mistakes.flatMap((mistake) => mistake.split('\n').map((line) => `-- ${printable(line)}`))
}

/** What a command compares. */
interface Subject {
  readonly shown: string
  readonly schema: DatabaseSchema
  readonly collections: readonly PublishedCollection[]
}

async function onSchema<Result>(
  given: Given,
  context: CommandContext,
  file: 'existing' | 'any',
  work: (subject: Subject) => Promise<Result>,
): Promise<Result> {
  const { workingFolder } = context
  const definition = requiredArgument(given, 'definition')
  const named = requiredOf(given, 'storage', 'database')
  const applications = await withMistakes(() => loadDefinition(definition, workingFolder), context)
  const filled = withFills(applications, given.all('fill'))
  const collections = publishApplications(filled).filter(({ serve }) => serve === undefined)
  const { shown, schema, close } = await openDatabase(named, given, context, file)
  try {
    if (schema === undefined) throw new CommandError(`${shown}: tables cannot be changed yet.`)
    return await work({ shown, schema, collections })
  } catch (error) {
    if (error instanceof CommandError || error instanceof UsageError) throw error
    throw new CommandError(
      isNotAnswered(error) ? `${shown}: ${reasonOf(error)}.` : errorMessage(error),
    )
  } finally {
    await close()
  }
}

const afterNoAnswer = 'Changes may have been made: see rowgate schema diff.'

function isNotAnswered(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown }
  return isUnavailable(error) || (typeof code === 'string' && code in networkFailures)
}

function reasonOf(error: unknown): string {
  const { cause } = Object(error) as { readonly cause?: unknown }
  return errorMessage(cause instanceof Error ? cause : error).replace(/\.$/, '')
}
