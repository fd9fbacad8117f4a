import { requirePlainObject } from '../checks/plain-object.ts'
import type { MessageText } from '../messages/message.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import type { EventName, Find, System } from './handler.ts'
import type { Principal } from './principal.ts'

/** The events on which rules run. `Change` runs the rules of `Update`, or of `Insert` for a new item. */
export type ValidatedEvent = 'Insert' | 'Update' | 'Delete'

/** The second argument of a rule; the first is the item `I`. */
export interface ValidationContext<I> {
  readonly event: EventName
  /** The item as it is stored; null for a new one. */
  readonly stored: Readonly<I> | null
  /** What `prepare` of the event returned; undefined without it, and in a Change. */
  readonly prepared: unknown
  readonly principal: Principal
  /** Returns items of other collections, in the same transaction and with the caller's rights. */
  readonly find: Find
  /** The same with every right. Messages may reveal rows that the caller can't read. */
  readonly system: Pick<System, 'find'>
  /** The service's clock. */
  readonly now: () => Date
  /** Aborts when the client disconnects or the rule exceeds `handlerTimeout`. */
  readonly signal: AbortSignal
}

/** The message of a broken rule; null, undefined or nothing if the item is valid. */
export type RuleResult = MessageText | null | undefined | void

/** The options of a rule, which checks an item with a function or a Standard Schema validator. */
export type RuleOptions<I> = {
  /** The field that the rule is about. Without one it is about the whole item. */
  readonly field?: NoInfer<keyof I & string>
  /** The events on which the rule runs. Default: Insert and Update. */
  readonly events?: readonly ValidatedEvent[]
} & (
  | {
      /** Returns a message if the rule is broken. Runs only if every value has the type of its field. */
      readonly check: (
        item: Readonly<I>,
        context: ValidationContext<I>,
      ) => RuleResult | Promise<RuleResult>
      readonly message?: undefined
    }
  | {
      /** Returns whether the item is valid. Runs only if every value has the type of its field. */
      readonly check: (
        item: Readonly<I>,
        context: ValidationContext<I>,
      ) => boolean | Promise<boolean>
      /**
       * What clients read if the rule is broken: a string, or one for each language. `{seats}` is the value of the field
       * seats of the item. Callers who can't read a field that it names get a neutral message.
       */
      readonly message: MessageText
    }
  | {
      /** A validator, such as one of zod. It checks the value of the field, or without a field the item. */
      readonly schema: StandardSchema
      /** What clients read instead of the messages of the validator; as with `check`. */
      readonly message?: MessageText
    }
)

/** A validation of a collection. Its name is unique in the collection. */
export type Validation<I> = {
  readonly name: string
  readonly severity: ValidationEntry['severity']
} & RuleOptions<I>

/** Creates a rule that rejects the save if it is broken. */
export function error<I>(name: string, rule: RuleOptions<I>): Validation<I> {
  return validation('error', name, rule)
}

/** Creates a rule whose message the client must confirm before the item is saved. */
export function warning<I>(name: string, rule: RuleOptions<I>): Validation<I> {
  return validation('warning', name, rule)
}

/** Creates a rule that only adds its message to the response. */
export function information<I>(name: string, rule: RuleOptions<I>): Validation<I> {
  return validation('information', name, rule)
}

function validation<I>(
  severity: Validation<I>['severity'],
  name: string,
  rule: RuleOptions<I>,
): Validation<I> {
  requirePlainObject('The options of a rule', rule, `${severity}()`)
  return { name, severity, ...rule }
}

/** The part of the Standard Schema specification (version 1) that is used here. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>
  }
}

/** The result of a Standard Schema validator: issues, if any. */
export interface StandardResult {
  readonly issues?:
    | readonly {
        readonly message: string
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
      }[]
    | undefined
}
