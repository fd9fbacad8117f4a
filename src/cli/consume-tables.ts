import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { describeTables, type TableDescription } from '../consume/tables/describe-tables.ts'
import { TablesError } from '../consume/tables/tables-error.ts'
import { requiredArgument, type CommandContext, type Given } from './command.ts'
import { CommandError } from './command-error.ts'
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
  const tables = describe(await read(file), options)
  context.result(tables, () => tables.map(textOf).join('\n\n'))
}

async function read(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new CommandError(`The file ${printable(file)} can not be read.`)
  })
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new CommandError(`${printable(file)} is not JSON.`)
  }
}

function describe(response: unknown, options: object): readonly TableDescription[] {
  try {
    return describeTables(response, options)
  } catch (error) {
    if (!(error instanceof TablesError)) throw error
    throw new CommandError(printable(error.message))
  }
}

function textOf({ path, rows, columns }: TableDescription): string {
  const title = `${path === null ? '(root)' : printable(path)}: ${counted(rows, 'row')}`
  const width = Math.max(...columns.map(({ name }) => printable(name).length))
  const lines = columns.map(({ name, types, inEveryRow }) => {
    const absent = inEveryRow ? '' : ', not in every row'
    return `  ${printable(name).padEnd(width)}  ${types.join(' | ')}${absent}`
  })
  return [title, ...lines].join('\n')
}
