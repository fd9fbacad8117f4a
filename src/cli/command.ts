import type { Keyring } from '../security/keys/key-store.ts'
import type { Users } from '../security/users/user-store.ts'
import type { Option } from './arguments.ts'
import type { DeploymentToWork } from './load-service.ts'
import { UsageError } from './refusal.ts'
import type { Terminal } from './terminal.ts'

/** A command of one word or two. */
export interface Command {
  readonly name: string
  /** What its one argument is, when it takes one: `keyId`. */
  readonly argument?: string
  readonly description: string
  readonly options: readonly Option[]
  /** Needs no module with a service. Default false. */
  readonly withoutService?: boolean
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
  /** The deployment that stands beside the service. */
  deployment(): Promise<DeploymentToWork>
}

/** Whole minutes of an option. Throws a UsageError for anything else and for less than the minimum. */
export function minutesOf(text: string | undefined, name: string, minimum: number): number {
  return wholeOf(text, { name, unit: 'minutes', minimum, maximum: 999_999_999_999 })
}

/** What a whole number has to be. */
export interface WholeNumber {
  readonly name: string
  readonly unit: string
  readonly minimum: number
  readonly maximum: number
}

/** A whole number of an option. Throws a UsageError for anything else. */
export function wholeOf(text: string | undefined, number: WholeNumber): number {
  const { name, unit, minimum, maximum } = number
  const value = text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : NaN
  if (value >= minimum && value <= maximum) return value
  const range = maximum < 1_000_000 ? `${minimum} to ${maximum}` : `${minimum} or more`
  throw new UsageError(`--${name} takes whole ${unit}, ${range}.`)
}

/** The value of an option that can't be left out. */
export function requiredOf(given: Given, name: string, value: string): string {
  const text = given.one(name)
  if (text !== undefined && text !== '') return text
  throw new UsageError(`--${name} <${value}> can not be left out.`)
}

/** An object without the members that were not given. */
export function compact<Value extends object>(value: {
  readonly [Name in keyof Value]: Value[Name] | undefined
}): Value {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined),
  ) as Value
}
