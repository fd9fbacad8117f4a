import { commandOf, readArguments, wordsOf } from './arguments.ts'
import { commonOptions, optionsOf, type Command, type Given } from './command.ts'
import { UsageError } from './command-error.ts'
import { keyCommands, userCommands } from './commands/access.ts'
import { databaseCommands } from './commands/databases.ts'
import { installCommands, releaseCommands } from './commands/releases.ts'
import { serviceCommands } from './commands/services.ts'
import { projectCommands, toolCommands } from './commands/tools.ts'

/** All commands, in the order in which the help lists them. */
export const commands: readonly Command[] = [
  ...projectCommands,
  ...databaseCommands,
  ...keyCommands,
  ...userCommands,
  ...serviceCommands,
  ...releaseCommands,
  ...installCommands,
  ...toolCommands,
]

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
const allOptions = [...commonOptions, ...commands.flatMap(({ options }) => options)]

/** Returns the command of a line, even if its options are wrong; undefined if there is no such command. */
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
      for (const { name: option, choices } of suggested)
        requireChoice(`--${option}`, options.get(option) ?? [], choices)
      if (argument !== undefined)
        requireChoice(command?.argument ?? '', [argument], command?.choices)
    },
  }
}

function requireChoice(
  place: string,
  values: readonly string[],
  choices: readonly string[] | undefined,
): void {
  if (choices !== undefined && values.some((value) => !choices.includes(value)))
    throw new UsageError(`${place} must be one of ${choices.join(', ')}.`)
}
