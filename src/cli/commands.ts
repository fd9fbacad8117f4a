import { cac } from 'cac'
import { commandOf, readableLine, typedText, wordsOf, type Option } from './arguments.ts'
import type { Command, Given } from './command.ts'
import { installCommands } from './install.ts'
import { keyCommands } from './keys.ts'
import { UsageError } from './command-error.ts'
import { releaseCommands } from './release.ts'
import { userCommands } from './users.ts'
import { workerCommand } from './worker.ts'

/** All commands. */
export const commands: readonly Command[] = [
  ...keyCommands,
  ...userCommands,
  ...releaseCommands,
  ...installCommands,
  workerCommand,
]

/** The options that every command has. */
export const everywhere: readonly Option[] = [
  { name: 'service', value: 'file', description: 'The module that exports the service' },
  { name: 'json', description: 'Print JSON, for programs; ask nothing' },
  { name: 'help', description: 'Show this help' },
  { name: 'version', description: 'Show the version' },
]

/** The options of a command, and of every command. */
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

/** Parses a command line. Throws a UsageError if no command could accept it. */
export function readCommandLine(line: readonly string[]): Typed {
  const names = commands.map((command) => command.name)
  const all = [...everywhere, ...commands.flatMap(({ options }) => options)]
  const meant = commandOf(wordsOf(line, all), names)
  // An option of the command takes precedence over a common option.
  const own = commands.find((command) => command.name === meant)?.options ?? []
  const program = cac('rowgate')
  for (const option of everywhere.filter(({ name }) => own.every((each) => each.name !== name)))
    program.option(declared(option), option.description)
  for (const { name, argument, description, options } of commands) {
    const command = program.command(argument === undefined ? name : `${name} [it]`, description)
    for (const option of options) command.option(declared(option), option.description)
    command.action(() => undefined)
  }
  const readable = readableLine(line, [...own, ...all], names)
  const { args, options } = program.parse(['', '', ...readable], { run: false })
  const name = program.matchedCommandName ?? args[0] ?? ''
  const matched = program.matchedCommand
  return {
    name,
    command: commands.find((command) => command.name === name),
    given: givenOf(matched === undefined ? undefined : args[0], options),
    check: () => {
      try {
        matched?.checkUnknownOptions()
        matched?.checkUnusedArgs()
      } catch (error) {
        throw new UsageError(usageMessage(error))
      }
      if (isWithoutService(name) && textsOf(options, 'service').length > 0)
        throw new UsageError('This command has no option --service.')
      for (const { name: option, repeats } of all)
        if (repeats !== true && textsOf(options, option).length > 1)
          throw new UsageError(`Give --${option} once.`)
    },
  }
}

function declared({ name, value }: Option): string {
  const isFlag = value === undefined && (name === 'help' || name === 'version')
  const short = isFlag ? `-${name.charAt(0)}, ` : ''
  return `${short}--${name}${value === undefined ? '' : ` <${value}>`}`
}

type Options = Readonly<Record<string, unknown>>

function givenOf(argument: string | undefined, options: Options): Given {
  return {
    argument: argument === undefined ? undefined : typedText(argument),
    one: (name) => textsOf(options, name)[0],
    all: (name) => textsOf(options, name),
    has: (name) => options[camelCase(name)] !== undefined,
  }
}

function textsOf(options: Options, name: string): readonly string[] {
  return [options[camelCase(name)]]
    .flat()
    .filter((value) => typeof value === 'string')
    .map(typedText)
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** What cac found, without the words themselves: they may be secrets. */
function usageMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  const [, option] = /^Unknown option `([\w-]+)`$/.exec(message) ?? []
  if (option === undefined) return 'These are too many words for this command.'
  const dashed = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return `This command has no option ${dashed}.`
}
