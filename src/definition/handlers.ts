import type {
  AfterFilter,
  AfterSave,
  BeforeDelete,
  BeforeFilter,
  BeforeInsert,
  BeforeSave,
  BeforeUpdate,
  Committed,
  HandlerContext,
  System,
} from './handler.ts'
import type { CollectionShape, Draft, Key, Some, Unnamed } from './item.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { withoutUndefined } from '../checks/options.ts'

// The compiler prints the imported alias of this name with its argument.
type FieldNameOf<C extends CollectionShape> = Unnamed<keyof C['fields'] & string>

/** The context of `prepare`, which runs before the transaction of its event. */
export interface PrepareContext<FieldName extends string = string> extends Omit<
  HandlerContext<FieldName>,
  'collection' | 'system'
> {
  /** Returns items of other collections with every right. */
  readonly system: Pick<System, 'find'>
  /** Reports a failure that the handler deals with, as `prepare-failed`, to your application. */
  report(error: unknown): void
}

/** An Insert before its transaction. */
export type PrepareInsert<C extends CollectionShape> = PrepareContext<FieldNameOf<C>> & {
  /** The values of the client, without defaults. Each has the type of its field. */
  readonly values: Some<Readonly<Draft<C>>>
}

/** An Update before its transaction. The item may not exist. */
export type PrepareUpdate<C extends CollectionShape> = PrepareInsert<C> & {
  readonly key: Key<C>
}

/** An Insert or Update before its transaction, for code that both share. */
export type PrepareSave<C extends CollectionShape> = PrepareInsert<C> & {
  /** The key of an Update; null for an Insert. */
  readonly key: Key<C> | null
}

/** A Delete before its transaction. The item may not exist. */
export type PrepareDelete<C extends CollectionShape> = PrepareContext<FieldNameOf<C>> & {
  readonly key: Key<C>
}

/**
 * A handler that runs before the transaction of an event: a function, or an object with the function `run`. Its
 * result is `prepared` in the handlers of the event. A
 * factory returns the object, because TypeScript does not infer the result from the call of a generic function
 * that returns a function.
 */
export type Preparation<Context, Result> =
  | ((context: Context) => MaybePromise<Result>)
  | { readonly run: (context: Context) => MaybePromise<Result> }

type Handler<Event> = (event: Event) => void | Promise<void>

interface SaveHandlers<C extends CollectionShape, Prepare, Before, Prepared> {
  /** Runs before the transaction. Its result is `prepared` in `before`, `after` and validations. */
  readonly prepare?: Prepare
  readonly before?: Handler<Before>
  readonly after?: Handler<AfterSave<C, PreparedOf<Prepared>>>
  /** Runs after the commit, without delaying the response; a failure is only reported. */
  readonly committed?: Handler<Committed<C>>
  /**
   * Whether the transaction is repeated after a conflict with another one although its code has run: `before`, `after`,
   * validations, functions of defaults, and the same of other collections that they write. What the code does besides its
   * calls of collections, it may then do several times. `prepare` and `committed` run once. Default false: the response
   * is 503.
   */
  readonly repeatable?: boolean
}

/** `never` stands for an event without `prepare`. */
type PreparedOf<Result> = [Result] extends [never] ? undefined : Result

/**
 * The handlers of a collection by event: before its transaction, before and after it, and after the commit.
 * The parameters after `C` are the results of `prepare` of Save, Insert, Update and Delete.
 */
export interface Handlers<C extends CollectionShape, PS = unknown, PI = PS, PU = PS, PD = unknown> {
  readonly Filter?: {
    readonly before?: Handler<BeforeFilter<C>>
    readonly after?: Handler<AfterFilter<C>>
  }
  /**
   * Handlers of both Insert and Update. Each runs before the handler of Insert or Update with the same name. If it
   * has `prepare`, Insert and Update can't have their own.
   */
  readonly Save?: SaveHandlers<
    C,
    Preparation<PrepareSave<C>, PS>,
    BeforeSave<C, PreparedOf<PS>>,
    PS
  >
  readonly Insert?: SaveHandlers<
    C,
    Preparation<PrepareInsert<C>, PI>,
    BeforeInsert<C, PreparedOf<PS | PI>>,
    PS | PI
  >
  readonly Update?: SaveHandlers<
    C,
    Preparation<PrepareUpdate<C>, PU>,
    BeforeUpdate<C, PreparedOf<PS | PU>>,
    PS | PU
  >
  readonly Delete?: SaveHandlers<
    C,
    Preparation<PrepareDelete<C>, PD>,
    BeforeDelete<C, PreparedOf<PD>>,
    PD
  >
  readonly New?: {
    /** May change the new item. */
    readonly after?: Handler<Omit<BeforeInsert<C>, 'prepared'>>
  }
}

/** The handlers of a collection by event. The handlers of Save are part of Insert and Update. */
export type PublishedHandlers = Omit<Handlers<CollectionShape>, 'Save'>

type Moments = Readonly<Record<string, AnyHandler>>
type AnyHandler = (event: never) => unknown

/** The events whose transactions are repeated although their code has run. */
export function repeatableEvents(
  declared: Handlers<CollectionShape> = {},
): ReadonlySet<'Insert' | 'Update' | 'Delete'> {
  const ofSave = declared.Save?.repeatable === true
  const names = (['Insert', 'Update', 'Delete'] as const).filter(
    (name) => declared[name]?.repeatable === true || (name !== 'Delete' && ofSave),
  )
  return new Set(names)
}

/** Returns a copy of the functions of handlers, in which Save is joined into Insert and Update. */
export function publishHandlers(declared: Handlers<CollectionShape> = {}): PublishedHandlers {
  const { Save, ...events } = withoutUndefined(declared) as Readonly<Record<string, Moments>>
  const copies = Object.fromEntries(
    Object.entries(events).map(([name, moments]) => [name, functionsOf(moments)]),
  )
  if (Save !== undefined) {
    const shared = functionsOf(Save)
    for (const name of ['Insert', 'Update']) copies[name] = joined(shared, copies[name] ?? {})
  }
  const frozen = Object.entries(copies).map(([name, moments]) => [name, Object.freeze(moments)])
  return Object.freeze(Object.fromEntries(frozen) as PublishedHandlers)
}

function functionsOf(moments: Moments): Moments {
  const { repeatable: _, ...functions } = withoutUndefined(moments)
  return functions
}

function joined(shared: Moments, own: Moments): Moments {
  const all = { ...own, ...shared }
  for (const [moment, first] of Object.entries(shared)) {
    const second = own[moment]
    if (second === undefined) continue
    all[moment] = moment === 'committed' ? independent(first, second) : inOrder(first, second)
  }
  return all
}

function inOrder(first: AnyHandler, second: AnyHandler): AnyHandler {
  // Whether a handler waits is known before the call only for async functions.
  if (isAsync(first) || isAsync(second)) {
    return async (event) => {
      await first(event)
      await second(event)
    }
  }
  return (event) => {
    const result = first(event)
    if (!(Object(result) instanceof Promise)) return second(event)
    return (result as Promise<unknown>).then(() => second(event))
  }
}

/** After the commit the second handler runs even if the first fails. */
function independent(first: AnyHandler, second: AnyHandler): AnyHandler {
  return async (event) => {
    try {
      await first(event)
    } finally {
      await second(event)
    }
  }
}

function isAsync(handler: AnyHandler): boolean {
  return handler.constructor.name === 'AsyncFunction'
}
