import type {
  CollectionLookup,
  EventName,
  Find,
  HandlerContext,
  System,
} from '../definition/handler.ts'
import { system, type Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { internal } from '../errors.ts'
import { whenDone, whenFailed, type MaybePromise } from '../maybe-promise.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import type { Finding } from '../request/findings.ts'
import { fieldOf } from '../request/item-values.ts'
import { viewOf } from '../request/view.ts'
import type { StorageTransaction } from '../storage/adapter.ts'
import { callApplication, HandlerRejection } from './guard.ts'
import { joinable, type Joinable } from './join-transaction.ts'
import { nestedCalls, type NestedCalls } from './nested-calls.ts'
import { requireTransaction, type NestedAccess, type Terms } from './runtime.ts'
import { servedSource } from './served.ts'

/** One event while it runs: its terms, its findings, and what its application code sees. */
export interface Scope extends CodeScope {
  /** Where the items of its collection are read and written. */
  readonly source: StorageTransaction
}

/** The application code of one event. */
export interface CodeScope {
  readonly terms: Terms
  readonly findings: Finding[]
  /** The result of `prepare`. */
  readonly prepared: unknown
  /** Returns the context of handlers and rules, which is created once. */
  readonly context: () => HandlerContext
  /** Adds the results of the definition's own checks. */
  add(entries: readonly ValidationEntry[]): void
  /** The calls that its application code makes to collections. */
  readonly calls: NestedCalls
  /**
   * Calls a rule, a handler or a serving function; see `callApplication`. Its time limit is in milliseconds,
   * by default `handlerTimeout`.
   */
  call<Result>(name: string, run: () => MaybePromise<Result>, limit?: number): MaybePromise<Result>
  /**
   * Runs work until application code calls `reject`, whose message is among the findings then. Returns
   * whether the work was completed.
   */
  untilRejected(work: () => MaybePromise<void>): MaybePromise<boolean>
}

/** What a scope is opened for. */
export interface ScopeSubject {
  readonly collection: PublishedCollection
  readonly event: EventName
  /** The name of a user-defined event. */
  readonly name?: string
  /** What `prepare` has returned and found. */
  readonly prepared?: Prepared | undefined
}

/** The result of `prepare`, for the other handlers of its event. */
export interface Prepared {
  readonly result: unknown
  readonly findings: readonly Finding[]
}

/** Opens the scope of one event. `access` is how the code of the event reaches collections. */
export function openScope(terms: Terms, subject: ScopeSubject, access: NestedAccess): Scope {
  const { collection } = subject
  const code = openCode(terms, subject, access)
  return {
    ...code,
    source:
      collection.serve === undefined
        ? requireTransaction(terms.running)
        : servedSource({
            collection,
            serve: collection.serve,
            rows: () => viewOf(collection, terms.caller.principal).rows,
            context: code.context,
            call: code.call,
          }),
  }
}

/** Opens the scope of the code of an event, which may run before the event has a transaction. */
export function openCode(terms: Terms, subject: ScopeSubject, access: NestedAccess): CodeScope {
  const { collection, event, name = event, prepared } = subject
  const { runtime, running } = terms
  const findings: Finding[] = prepared === undefined ? [] : [...prepared.findings]
  const place = { application: collection.application, collection: collection.name, event: name }
  const calls = nestedCalls()
  let stop: AbortController | undefined
  let context: HandlerContext | undefined
  // Without a transaction, no other writer waits for the code.
  const onWait = (): void => {
    if (running.transaction !== undefined) runtime.waiting.set(collection, true)
  }
  const contextOnce = (): HandlerContext => {
    stop ??= new AbortController()
    context ??= handlerContext(terms, subject, { stop: stop.signal, findings, calls, access })
    return context
  }
  const call: Scope['call'] = (callee, run, limit) => {
    const abort = (): void => stop?.abort()
    const called = callApplication(runtime, { place, name: callee, run, limit, abort, onWait })
    return whenDone(called, (result) => {
      const error = calls.unawaited()
      if (error === undefined) return result
      // What the call writes later must be rolled back, too.
      const failure = internal(error)
      running.log.failure ??= { error: failure }
      runtime.report({ type: 'handler-failed', place, name: callee, error })
      throw failure
    })
  }
  return {
    terms,
    prepared: prepared?.result,
    findings,
    context: contextOnce,
    add: (entries) => {
      for (const { severity, message, field } of entries)
        findings.push({ severity, name: '', message, field })
    },
    calls,
    call,
    untilRejected: (work) =>
      whenFailed(
        () => whenDone(work(), () => true),
        (error) => {
          if (!(error instanceof HandlerRejection)) throw error
          return false
        },
      ),
  }
}

/** What the context of a handler is created from, besides the terms of its event. */
interface HandlerSurroundings {
  readonly findings: Finding[]
  readonly stop: AbortSignal
  readonly calls: NestedCalls
  readonly access: NestedAccess
}

/** Creates the context that handlers and rules of an event receive. */
function handlerContext(
  terms: Terms,
  { collection, event }: { readonly collection: PublishedCollection; readonly event: EventName },
  { findings, stop, calls, access }: HandlerSurroundings,
): HandlerContext & Joinable {
  const { runtime, caller } = terms
  const disconnected = caller.signal()
  const collectionsFor = (principal: Principal): System => {
    const collectionNamed = ((reference: string) => {
      const found = runtime.collectionOf(collection.application, reference)
      const own = { ...caller, principal, confirmed: new Set<string>() }
      return calls.watchAccess(access({ ...terms, caller: own }, found))
    }) as CollectionLookup
    const find = ((reference: string, conditions?: never, options = {}) => {
      const items = async () => (await collectionNamed(reference).filter(conditions, options)).items
      return calls.watch('find', items())
    }) as Find
    return { collection: collectionNamed, find }
  }
  const add = (severity: Finding['severity'], name: string, message: unknown, field?: string) => {
    if (typeof message !== 'string' || message === '') {
      throw new TypeError('The message of a validation must be a string that is not empty.')
    }
    if (field !== undefined) fieldOf(collection, field)
    findings.push({ severity, name, message, field })
  }
  return {
    event,
    principal: caller.principal,
    signal: disconnected === undefined ? stop : AbortSignal.any([disconnected, stop]),
    now: runtime.now,
    ...collectionsFor(caller.principal),
    system: collectionsFor(system),
    ...joinable(terms.running, calls),
    error: (message, field) => {
      add('error', event, message, field)
    },
    warning: (name, message, field) => {
      add('warning', `${event}:${name}`, message, field)
    },
    information: (message, field) => {
      add('information', event, message, field)
    },
    reject: (message, field) => {
      add('error', event, message, field)
      throw new HandlerRejection(message)
    },
  }
}
