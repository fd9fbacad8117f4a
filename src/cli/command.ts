import type { Keyring } from '../security/keys/key-store.ts'
import type { Users } from '../security/users/user-store.ts'
import type { Option } from './arguments.ts'
import { UsageError } from './refusal.ts'
import type { Terminal } from './terminal.ts'

/** A command of two words. */
export interface Command {
  readonly name: string
  /** What its one argument is, when it takes one: `keyId`. */
  readonly argument?: string
  readonly description: string
  readonly options: readonly Option[]
  /** How it is used, after `rowgate`. */
  readonly example: string
  /** Does it. Throws a UsageError before the service is loaded, where it can tell by then. */
  run(given: Given, desk: Desk): Promise<void>
}

/** What a command was given. */
export interface Given {
  readonly argument: string | undefined
  /** The value of an option. */
  one(name: string): string | undefined
  /** The values of an option that may be given again. */
  all(name: string): readonly string[]
  has(name: string): boolean
}

/** The terminal, with the service behind it: loaded and opened with the first look into it. */
export interface Desk extends Terminal {
  keys(): Promise<Keyring>
  users(): Promise<Users>
}

/** Whole minutes of an option. Throws a UsageError for anything else and for less than the minimum. */
export function minutesOf(text: string | undefined, name: string, minimum: number): number {
  if (text !== undefined && /^\d{1,12}$/.test(text) && Number(text) >= minimum) return Number(text)
  throw new UsageError(`--${name} takes whole minutes, ${minimum} or more.`)
}

/** An object without the members that were not given. */
export function compact<Value extends object>(value: {
  readonly [Name in keyof Value]: Value[Name] | undefined
}): Value {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined),
  ) as Value
}
