import { requirePlainObject } from '../checks/plain-object.ts'
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
import { whenSettled, type MaybePromise } from '../maybe-promise.ts'
import { givenMessage, messageFrom } from '../messages/message.ts'
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
  context(): HandlerContext
  /** The calls that its application code makes to collections. */
  readonly calls: NestedCalls
  /** Adds the results of the definition's own checks. */
  add(entries: readonly ValidationEntry[]): void
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

/**
 * Opens the scope of one event. `access` is how the code of the event reaches collections. Before the event has
 * a transaction, it is the scope of its code only.
 */
export function openScope(terms: Terms, subject: ScopeSubject, access: NestedAccess): Scope {
  return new EventScope(terms, subject, access)
}

// A class, because most events run no code: what only code uses is created at its first use.
class EventScope implements Scope {
  readonly terms: Terms
  readonly prepared: unknown
  readonly findings: Finding[]
  readonly #subject: ScopeSubject
  readonly #access: NestedAccess
  #calls: NestedCalls | undefined
  #stop: AbortController | undefined
  #context: HandlerContext | undefined
  #source: StorageTransaction | undefined

  constructor(terms: Terms, subject: ScopeSubject, access: NestedAccess) {
    const { prepared } = subject
    this.terms = terms
    this.prepared = prepared?.result
    this.findings = prepared === undefined ? [] : [...prepared.findings]
    this.#subject = subject
    this.#access = access
  }

  get source(): StorageTransaction {
    return (this.#source ??= this.#openSource())
  }

  #openSource(): StorageTransaction {
    const { collection } = this.#subject
    const { running, caller } = this.terms
    if (collection.serve === undefined) return requireTransaction(running)
    return servedSource({
      collection,
      serve: collection.serve,
      rows: () => viewOf(collection, caller.principal).rows,
      context: () => this.context(),
      calls: () => this.calls,
      call: (name, run, limit) => this.call(name, run, limit),
    })
  }

  get calls(): NestedCalls {
    return (this.#calls ??= nestedCalls())
  }

  context(): HandlerContext {
    if (this.#context !== undefined) return this.#context
    this.#stop = new AbortController()
    return (this.#context = handlerContext(this.terms, this.#subject, {
      stop: this.#stop.signal,
      findings: this.findings,
      calls: this.calls,
      access: this.#access,
    }))
  }

  add(entries: readonly ValidationEntry[]): void {
    for (const entry of entries) {
      const { severity, message, field } = entry
      this.findings.push({ severity, name: '', message, field, source: messageFrom(entry) })
    }
  }

  call<Result>(
    callee: string,
    run: () => MaybePromise<Result>,
    limit?: number,
  ): MaybePromise<Result> {
    const { runtime, running } = this.terms
    const { collection, event, name = event } = this.#subject
    const place = { application: collection.application, collection: collection.name, event: name }
    running.log.hasCalledCode = true
    const abort = (): void => this.#stop?.abort()
    // Without a transaction, no other writer waits for the code.
    const onWait = (): void => {
      if (running.transaction !== undefined) runtime.waiting.set(collection, true)
    }
    const isInStorage = (): boolean => this.#calls?.storage.areInProgress() === true
    const ended = (): MaybePromise<Result> => this.#untilCallsEnd(run)
    const code = { place, name: callee, run: ended, limit, abort, onWait, isInStorage }
    return whenSettled(
      () => callApplication(runtime, code),
      (result) => {
        const error = this.#calls?.unawaited()
        if (error === undefined) return result
        runtime.report({ type: 'handler-failed', place, name: callee, error })
        throw this.#undone(internal(error))
      },
      (reason) => {
        const error = this.#calls?.unawaited()
        if (error !== undefined && reason instanceof HandlerRejection) {
          runtime.report({ type: 'handler-failed', place, name: callee, error })
          throw this.#undone(internal(error))
        }
        // Application code may catch the error, but a call may still write.
        if (error !== undefined || this.#calls?.isRunning() === true) this.#undone(reason)
        throw reason
      },
    )
  }

  /** Runs application code. It has ended when the calls that something waits for have. */
  #untilCallsEnd<Result>(run: () => MaybePromise<Result>): MaybePromise<Result> {
    return whenSettled(
      run,
      (result) => {
        const ended = this.#calls?.ended()
        return ended === undefined ? result : ended.then(() => result)
      },
      (error) => {
        const ended = this.#calls?.ended()
        if (ended === undefined) throw error
        return ended.then(() => {
          throw error
        })
      },
    )
  }

  /** Makes the unit of work fail: what a call writes later must be rolled back, too. */
  #undone<Failure>(error: Failure): Failure {
    this.terms.running.log.failure ??= { error }
    return error
  }

  untilRejected(work: () => MaybePromise<void>): MaybePromise<boolean> {
    return whenSettled(
      work,
      () => true,
      (error) => {
        if (!(error instanceof HandlerRejection)) throw error
        return false
      },
    )
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
  let watched: Terms | undefined
  const disconnected = caller.signal()
  const collectionsFor = (principal: Principal): System => {
    const collectionNamed = ((reference: string) => {
      const found = runtime.collectionOf(collection.application, reference)
      const invoker = { ...caller, principal, confirmed: new Set<string>() }
      watched ??= calls.storage.within(terms)
      return calls.watchAccess(access({ ...watched, caller: invoker }, found))
    }) as CollectionLookup
    const find = ((reference: string, conditions: unknown = {}, options: unknown = {}) => {
      const items = async () => {
        requirePlainObject('The conditions', conditions, 'find')
        requirePlainObject('The options of find', options, 'find')
        return (await collectionNamed(reference).filter(conditions, options)).items
      }
      return calls.watch('find', items())
    }) as Find
    return { collection: collectionNamed, find }
  }
  const add = (severity: Finding['severity'], name: string, message: unknown, field?: string) => {
    const given = givenMessage(message)
    if (field !== undefined) fieldOf(collection, field)
    findings.push({ severity, name, field, ...given })
    return given.message
  }
  const own = collectionsFor(caller.principal)
  return {
    event,
    principal: caller.principal,
    signal: disconnected === undefined ? stop : AbortSignal.any([disconnected, stop]),
    now: runtime.now,
    collection: own.collection,
    find: own.find,
    system: collectionsFor(system),
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
      throw new HandlerRejection(add('error', event, message, field))
    },
    ...joinable(terms.running, calls),
  }
}
