import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { describeEndpoint } from '../consume/openapi/describe-endpoint.ts'
import { describeTables } from '../consume/tables/describe-tables.ts'
import type { TableDescription } from '../consume/tables/table-description.ts'
import { TablesError } from '../consume/tables/tables-error.ts'
import { requiredArgument, type CommandContext, type Given } from './command.ts'
import { CommandError } from './command-error.ts'
import { withMistakes } from './import.ts'
import { printable } from './text.ts'
import { counted } from './time.ts'

const lists = ['entries', 'arrays', 'zip'] as const

/** Runs `rowgate consume tables`: prints the tables of a response with their columns and types. */
export async function printTables(given: Given, context: CommandContext): Promise<void> {
  const file = resolve(context.workingFolder, requiredArgument(given, 'file'))
  const options = Object.fromEntries(
    lists.flatMap((name) => {
      const paths = given.one(name)
      return paths === undefined ? [] : [[name, paths.split(',')]]
    }),
  )
  const endpoint = given.one('endpoint')
  const tables = await withMessage(
    endpoint === undefined
      ? read(file).then((response) => describeTables(response, options))
      : withMistakes(
          describeEndpoint(file, endpoint, options),
          context,
          `The tables of ${printable(endpoint)} cannot be read from the document.`,
        ),
  )
  context.result(tables, () => tables.map(textOf).join('\n\n'))
}

async function read(file: string): Promise<unknown> {
  const bytes = await readFile(file).catch(() => {
    throw new CommandError(`The file ${printable(file)} cannot be read.`)
  })
  let text: string
  try {
    // As of a response: a byte order mark is dropped.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CommandError(`${printable(file)} is not JSON in UTF-8.`)
  }
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new CommandError(`${printable(file)} is not JSON${placeOf(error, text)}.`)
  }
}

/** Returns the line at which reading has ended, if the error names a position. */
function placeOf(error: unknown, text: string): string {
  const [, position] = /at position (\d+)/.exec((error as Error).message) ?? []
  return position === undefined
    ? ''
    : `: see line ${text.slice(0, Number(position)).split('\n').length}`
}

async function withMessage<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof TablesError)) throw error
    throw new CommandError(printable(error.message))
  }
}

function textOf({ path, rows, columns }: TableDescription): string {
  const name = path === null ? '(root)' : printable(path)
  const title = rows === null ? name : `${name}: ${counted(rows, 'row')}`
  const width = Math.max(...columns.map(({ name }) => printable(name).length))
  const lines = columns.map(({ name, types, inEveryRow }) => {
    const absent = inEveryRow ? '' : ', not in every row'
    return `  ${printable(name).padEnd(width)}  ${types.join(' | ')}${absent}`
  })
  return [title, ...lines].join('\n')
}
