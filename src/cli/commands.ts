import { commandOf, readArguments, wordsOf, type Option } from './arguments.ts'
import { checkCommand } from './check.ts'
import type { Command, Given } from './command.ts'
import { importCommand } from './import.ts'
import { installCommands } from './install.ts'
import { introspectCommand } from './introspect.ts'
import { keyCommands } from './keys.ts'
import { UsageError } from './command-error.ts'
import { outboxCommands } from './outbox.ts'
import { releaseCommands } from './release.ts'
import { schemaCommands } from './schema.ts'
import { serveCommand } from './serve.ts'
import { userCommands } from './users.ts'
import { workerCommand } from './worker.ts'

/** All commands. */
export const commands: readonly Command[] = [
  introspectCommand,
  serveCommand,
  ...schemaCommands,
  ...keyCommands,
  ...userCommands,
  ...releaseCommands,
  ...installCommands,
  importCommand,
  checkCommand,
  ...outboxCommands,
  workerCommand,
]

/** The common options of all commands. */
export const everywhere: readonly Option[] = [
  { name: 'service', value: 'file', description: 'The module that exports the service' },
  { name: 'json', description: 'Print JSON and ask no questions' },
  { name: 'help', description: 'Show this help' },
  { name: 'version', description: 'Show the version' },
]

/** Returns the options of a command, including the common options. */
export function optionsOf(command: Command): readonly Option[] {
  const own = command.options.map(({ name }) => name)
  const others = everywhere.filter(
    ({ name }) => !own.includes(name) && !(name === 'service' && isWithoutService(command.name)),
  )
  return [...command.options, ...others]
}

function isWithoutService(name: string): boolean {
  return commands.some((command) => command.name === name && command.withoutService === true)
}

/** A parsed command line. */
export interface Typed {
  /** The words of the command, joined; empty if there are none. */
  readonly name: string
  /** The command of this name, if there is one. */
  readonly command: Command | undefined
  readonly given: Given
  /** Throws a UsageError for arguments and options that the command does not have. */
  check(): void
}

const names = commands.map(({ name }) => name)
const allOptions = [...everywhere, ...commands.flatMap(({ options }) => options)]

/** Returns the command that a line names, also if its options are wrong; undefined if it names none. */
export function findCommand(line: readonly string[]): Command | undefined {
  const name = commandOf(wordsOf(line, allOptions), names)
  return commands.find((command) => command.name === name)
}

/** Parses a command line. Throws a UsageError if no command could accept it. */
export function readCommandLine(line: readonly string[]): Typed {
  const command = findCommand(line)
  // An option of the command takes precedence over a common option.
  const own = command?.options ?? []
  const suggested = command === undefined ? allOptions : optionsOf(command)
  const { words, options } = readArguments(line, [...own, ...allOptions], suggested)
  const name = commandOf(words, names)
  const [argument, ...surplus] = words.slice(name.split(' ').length)
  return {
    name,
    command,
    given: {
      argument,
      one: (option) => options.get(option)?.[0],
      all: (option) => options.get(option) ?? [],
      has: (option) => options.has(option),
    },
    check: () => {
      for (const option of options.keys())
        if (suggested.every((known) => known.name !== option))
          throw new UsageError(`This command has no option --${option}.`)
      if (surplus.length > 0 || (argument !== undefined && command?.argument === undefined))
        throw new UsageError('This command has too many arguments.')
      for (const { name: option, repeats } of allOptions)
        if (repeats !== true && (options.get(option)?.length ?? 0) > 1)
          throw new UsageError(`--${option} can be given only once.`)
    },
  }
}
