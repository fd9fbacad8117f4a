import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { publishApplications } from '../definition/publish-applications.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { SchemaChange, SchemaChangeKind, SchemaDiff } from '../storage/sql/schema-changes.ts'
import { applyToFile, diffFile } from '../storage/sqlite/schema-apply.ts'
import { requiredArgument, requiredOf, type CommandContext, type Given } from './command.ts'
import { CommandError } from './command-error.ts'
import { loadDefinition, withMistakes } from './load-definition.ts'
import { openProgress } from './progress.ts'
import { messageOf, printable } from './text.ts'
import { counted } from './time.ts'

// A column that the definition does not name does no harm.
const needed = new Set<SchemaChangeKind>(['add', 'rename', 'rebuild'])

/** Runs `rowgate schema diff`. */
export async function showDiff(given: Given, context: CommandContext): Promise<void> {
  const { file, shown, collections } = await subjectOf(given, context)
  if (!existsSync(file)) throw new CommandError(`File not found: ${printable(shown)}.`)
  const diff = attempt(() => diffFile(file, collections, needed))
  const { changes, left, mistakes } = diff
  context.result(diff, () => {
    const lines = [...changes, ...left].flatMap(linesOf)
    return [...lines, ...mistakeLines(diff)].join('\n') || 'The database fits the definition.'
  })
  if (changes.length + mistakes.length > 0) {
    throw new CommandError('The database does not fit the definition.')
  }
}

/** Runs `rowgate schema apply`. */
export async function applyDiff(given: Given, context: CommandContext): Promise<void> {
  const allowed = new Set<SchemaChangeKind>(['add', ...(given.all('allow') as SchemaChangeKind[])])
  const { file, shown, collections } = await subjectOf(given, context)
  const time = context
    .now()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '')
  const copyTo = resolve(context.workingFolder, given.one('copy') ?? `${file}.${time}`)
  const progress = openProgress(context)
  const applied = attempt(() => {
    try {
      return applyToFile(file, collections, {
        allowed,
        copyTo,
        busyTimeout: 30_000,
        progress: (step) => progress.show(printable(step)),
      })
    } finally {
      progress.end()
    }
  })
  const { changes, left, mistakes, copy } = applied
  context.result(applied, () =>
    [
      ...changes.map(({ description }) => printable(description)),
      `Made ${counted(changes.length, 'change')} of ${printable(shown)}.`,
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
  readonly file: string
  readonly shown: string
  readonly collections: readonly PublishedCollection[]
}

async function subjectOf(given: Given, context: CommandContext): Promise<Subject> {
  const { workingFolder } = context
  const definition = requiredArgument(given, 'definition')
  const shown = requiredOf(given, 'storage', 'file')
  const file = resolve(workingFolder, shown)
  const applications = await withMistakes(() => loadDefinition(definition, workingFolder), context)
  const collections = publishApplications(applications).filter(({ serve }) => serve === undefined)
  return { file, shown, collections }
}

function attempt<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new CommandError(messageOf(error))
  }
}
