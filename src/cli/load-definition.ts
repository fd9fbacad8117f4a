import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ApplicationDefinitions } from '../definition/application.ts'
import { checkApplications, readApplications } from '../definition/check.ts'
import { parseJson } from '../protocol/json-text.ts'
import { CommandError } from './command-error.ts'
import { candidatesOf, imported } from './load-service.ts'
import type { Terminal } from './terminal.ts'
import { errorMessage, printable } from './text.ts'

/**
 * Returns the applications of a definition: a JSON file, or a module that exports them as `applications` or by
 * default. Throws a CommandError if it can't be loaded, and a TypeError that lists the mistakes of the
 * definition.
 *
 * @param version differs for each change of the file, so that it is loaded again
 */
export async function loadDefinition(
  name: string,
  workingFolder: string,
  version?: string,
): Promise<ApplicationDefinitions> {
  const path = resolve(workingFolder, name)
  const shown = printable(name)
  if (!existsSync(path)) throw new CommandError(`File not found: ${shown}.`)
  if (/\.json$/i.test(name)) return readApplications(await parsed(path, shown))
  const exported = await imported(path, shown, version)
  const found = candidatesOf(exported, 'applications').find(hasCollections)
  if (found !== undefined) return checkApplications(found)
  throw new CommandError(
    `${shown} exports no applications. Add: export const applications = { shop: { collections: { ... } } }`,
  )
}

/** Runs work on a definition. Prints its mistakes on lines of their own, and throws a CommandError then. */
export async function withMistakes<Result>(
  work: () => Promise<Result>,
  { messages }: Terminal,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    for (const line of error.message.split('\n')) messages.write(`${printable(line)}\n`)
    throw new CommandError('The definition has mistakes.')
  }
}

async function parsed(path: string, shown: string): Promise<unknown> {
  try {
    return parseJson(await readFile(path, 'utf8'))
  } catch (error) {
    throw new CommandError(`${shown} cannot be read: ${errorMessage(error)}`)
  }
}

function hasCollections(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const applications: readonly unknown[] = Object.values(value)
  return (
    applications.length > 0 &&
    applications.every((each) => typeof each === 'object' && each !== null && 'collections' in each)
  )
}
