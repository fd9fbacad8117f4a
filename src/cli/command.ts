import type { CommandUse } from '../command-use.ts'
import type { Keyring } from '../security/keys/key-store.ts'
import type { Users } from '../security/users/user-store.ts'
import type { Option } from './arguments.ts'
import type { OutboxToManage, ServiceParts } from './load-service.ts'
import { UsageError } from './command-error.ts'
import type { Terminal } from './terminal.ts'

/**
 * A command with a name of one or two words. Help, completion, the page of all commands and the checks of command
 * lines are made from it.
 */
export interface Command {
  readonly name: string
  /** Its argument, if it has one: `<keyId>`, or `[folder]` if it can be omitted. */
  readonly argument?: `<${string}>` | `[${string}]`
  /** The values of the argument, if there are only a few. */
  readonly choices?: readonly string[]
  /** What it does, as an imperative sentence without its period. */
  readonly description: string
  /** Its own options, without the common ones. */
  readonly options: readonly Option[]
  /** Whether the command needs no module with a service. Default false. */
  readonly withoutService?: boolean
  /**
   * Whether it only reads, or a function that decides that. Then nothing is written to the storage of the service and to
   * the database that it names. Default false.
   */
  readonly isReading?: boolean | ((given: Given) => boolean)
  /** Examples without the word `rowgate`, the most common one first. */
  readonly examples: readonly [string, ...string[]]
  /** Loads the code of the command, so that the other commands and the help start without it. */
  load(): Promise<RunCommand>
}

/** Runs a command. Rejects with a UsageError, if possible before the service is loaded. */
export type RunCommand = (given: Given, context: CommandContext) => Promise<void>

/** The common options of all commands. */
export const commonOptions: readonly Option[] = [
  { name: 'service', value: 'file', description: 'The module that exports the service' },
  { name: 'json', description: 'Print JSON and ask no questions' },
  { name: 'help', description: 'Show this help' },
  { name: 'version', description: 'Show the version' },
]

/** Returns the options of a command, including the common options. */
export function optionsOf({ options, withoutService = false }: Command): readonly Option[] {
  const own = options.map(({ name }) => name)
  const others = commonOptions.filter(
    ({ name }) => !own.includes(name) && !(name === 'service' && withoutService),
  )
  return [...options, ...others]
}

/** The exit codes of all commands, with their meanings. */
export const exitCodes: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'success'],
  [1, 'the command was rejected or failed, or found something to correct'],
  [2, 'invalid usage'],
  [3, 'a remote service was unreachable, unavailable or too slow'],
]

/** The argument and options of a command. */
export interface Given {
  readonly argument: string | undefined
  /** Returns the value of an option. */
  one(name: string): string | undefined
  /** Returns the values of an option that may be repeated. */
  all(name: string): readonly string[]
  has(name: string): boolean
}

/** The terminal and the service, which is loaded and opened on first access. */
export interface CommandContext extends Terminal {
  /** All commands of the program. */
  readonly commands: readonly Command[]
  keys(): Promise<Keyring>
  users(): Promise<Users>
  /** Returns what workers work on: the deployment and the outbox that the module exports. */
  parts(): Promise<ServiceParts>
  /** Returns the outbox that the module exports beside the service. */
  outbox(): Promise<Omit<OutboxToManage, 'work'>>
}

/** Returns what a command line does with the service. */
export function useOf({ isReading = false }: Command, given: Given): CommandUse {
  return (typeof isReading === 'function' ? isReading(given) : isReading) ? 'read' : 'write'
}

/** Returns the argument. Throws a UsageError if it is missing. */
export function requiredArgument({ argument }: Given, name: string): string {
  if (argument !== undefined && argument !== '') return argument
  throw new UsageError(`Missing argument: <${name}>.`)
}

/** Returns the module of the service that the command line or the environment names; undefined if none does. */
export function serviceModule(
  given: Given,
  { environment }: Pick<Terminal, 'environment'>,
): string | undefined {
  const named = given.one('service') ?? environment['ROWGATE_SERVICE']
  return named === '' ? undefined : named
}

/** Returns the minutes of an option. Throws a UsageError unless they are an integer of at least the minimum. */
export function minutesOf(text: string | undefined, name: string, minimum: number): number {
  return wholeOf(text, { name, unit: 'minutes', minimum, maximum: 999_999_999_999 })
}

/** The limits of an integer. */
export interface WholeNumber {
  readonly name: string
  /** What is counted. Default: nothing. */
  readonly unit?: string
  readonly minimum: number
  readonly maximum: number
}

/** Returns the integer of an option. Throws a UsageError for anything else. */
export function wholeOf(text: string | undefined, number: WholeNumber): number {
  const { name, unit, minimum, maximum } = number
  const value = text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : NaN
  if (value >= minimum && value <= maximum) return value
  const range = maximum < 1_000_000 ? `${minimum} to ${maximum}` : `${minimum} or more`
  const kind = unit === undefined ? 'an integer' : `a whole number of ${unit}`
  throw new UsageError(`--${name} must be ${kind}, ${range}.`)
}

/** Returns the value of a required option. */
export function requiredOf(given: Given, name: string, value: string): string {
  const text = given.one(name)
  if (text !== undefined && text !== '') return text
  throw new UsageError(`--${name} <${value}> is required.`)
}

/** Returns an object without its undefined members. */
export function compact<Value extends object>(value: {
  readonly [Name in keyof Value]: Value[Name] | undefined
}): Value {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined),
  ) as Value
}
