import type { Severity } from '../protocol/envelope.ts'
import type { EventName, Find, System } from './handler.ts'
import type { Principal } from './principal.ts'

/** The events that rules may be checked on. `Change` checks what `Update` would, or `Insert` for a new item. */
export type ValidatedEvent = 'Insert' | 'Update' | 'Delete'

/** What a rule may look at besides the item `I`. */
export interface ValidationContext<I> {
  readonly event: EventName
  /** The item as it is stored; null for a new one. */
  readonly stored: Readonly<I> | null
  readonly principal: Principal
  /** Looks up items of other collections, in the same transaction and with the caller's rights (D45). */
  readonly find: Find
  /** The same with every right. What it finds may tell the caller about rows it can't see. */
  readonly system: Pick<System, 'find'>
  /** The service's clock. */
  readonly now: () => Date
  /** Aborted when the client has left or the rule has used up its time. */
  readonly signal: AbortSignal
}

/** The message of a rule that is broken; nothing when it is kept. */
export type Verdict = string | null | undefined | void

/** How a rule checks an item: with a function, or with a Standard Schema validator. */
export type RuleOptions<I> = {
  /** The field that the rule is about. Without one it is about the whole item. */
  readonly field?: NoInfer<keyof I & string>
  /** The events on which the rule is checked. Default: Insert and Update. */
  readonly events?: readonly ValidatedEvent[]
} & (
  | {
      /** Returns the message when the rule is broken. Runs only when every value has its field's type. */
      readonly check: (
        item: Readonly<I>,
        context: ValidationContext<I>,
      ) => Verdict | Promise<Verdict>
    }
  | {
      /** A validator of zod, valibot, arktype and others. Checks the field's value, or the whole item. */
      readonly schema: StandardSchema
    }
)

/** A validation of a collection (section 2.2). Names are unique in the collection. */
export type Validation<I> = {
  readonly name: string
  readonly severity: Severity
} & RuleOptions<I>

/** A rule that refuses the save when it is broken. */
export function error<I>(name: string, rule: RuleOptions<I>): Validation<I> {
  return { name, severity: 'error', ...rule }
}

/** A rule that holds the save back, when it is broken, until the consumer confirms (section 4.1). */
export function warning<I>(name: string, rule: RuleOptions<I>): Validation<I> {
  return { name, severity: 'warning', ...rule }
}

/** A rule that only adds its message to the answer of the save. */
export function information<I>(name: string, rule: RuleOptions<I>): Validation<I> {
  return { name, severity: 'information', ...rule }
}

/** The part of the Standard Schema specification (version 1) that is used here. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>
  }
}

/** What a Standard Schema validator answers: issues, if any. */
export interface StandardResult {
  readonly issues?:
    | readonly {
        readonly message: string
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
      }[]
    | undefined
}
