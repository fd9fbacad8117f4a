import { cac } from 'cac'
import { readableLine, typedText, type Option } from './arguments.ts'
import type { Command, Given } from './command.ts'
import { keyCommands } from './keys.ts'
import { UsageError } from './refusal.ts'
import { userCommands } from './users.ts'

/** Every command there is. */
export const commands: readonly Command[] = [...keyCommands, ...userCommands]

/** The options that every command has. */
export const everywhere: readonly Option[] = [
  { name: 'service', value: 'file', description: 'The module that exports the service' },
  { name: 'json', description: 'Print JSON, for programs; ask nothing' },
  { name: 'help', description: 'Show this help' },
  { name: 'version', description: 'Show the version' },
]

/** What was typed. */
export interface Typed {
  /** The words of the command, as one text; empty for none. */
  readonly name: string
  /** The command of this name, if there is one. */
  readonly command: Command | undefined
  readonly given: Given
  /** Throws a UsageError when the command does not take what it was given. */
  check(): void
}

/** Reads a command line. Throws a UsageError where no command could make sense of it. */
export function readCommandLine(line: readonly string[]): Typed {
  const program = cac('rowgate')
  for (const option of everywhere) program.option(declared(option), option.description)
  for (const { name, argument, description, options } of commands) {
    const command = program.command(argument === undefined ? name : `${name} [it]`, description)
    for (const option of options) command.option(declared(option), option.description)
    command.action(() => undefined)
  }
  const all = [...everywhere, ...commands.flatMap(({ options }) => options)]
  const readable = readableLine(line, all)
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
      for (const { name: option, repeats } of all)
        if (repeats !== true && textsOf(options, option).length > 1)
          throw new UsageError(`Give --${option} once.`)
    },
  }
}

function declared({ name, value }: Option): string {
  const short = name === 'help' || name === 'version' ? `-${name.charAt(0)}, ` : ''
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
