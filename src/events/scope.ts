import { requirePlainObject } from '../checks/plain-object.ts'
import type {
  CollectionAccess,
  CollectionLookup,
  EventName,
  Find,
  HandlerContext,
  System,
} from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import { system, type Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { internal } from '../errors.ts'
import { whenSettled, type MaybePromise } from '../maybe-promise.ts'
import { givenMessage, messageFrom } from '../messages/message.ts'
import type { EventPlace } from '../observation/reports.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import type { Finding } from '../request/findings.ts'
import { fieldOf } from '../request/item-values.ts'
import type { StorageTransaction } from '../storage/adapter.ts'
import { callApplication, HandlerRejection } from './guard.ts'
import { joinable } from './units/join-transaction.ts'
import { nestedCalls, type NestedCalls } from './nested-calls.ts'
import type { Caller } from './runtime.ts'
import { servedSource, type ServingScope } from './reads/served.ts'
import type { Unit } from './units/unit.ts'

/** Returns a collection for application code. Its calls take part in the unit of work. */
export type NestedAccess = (
  unit: Unit,
  caller: Caller,
  collection: PublishedCollection,
) => CollectionAccess<CollectionShape>

/** What a scope is opened for. */
export interface ScopeSubject {
  readonly collection: PublishedCollection
  readonly event: EventName
  /** The name of a user-defined event. */
  readonly name?: string
  /** What `prepare` has returned and found. */
  readonly prepared?: Prepared | undefined
  /** Whether the outcome may be JSON text that storage writes. Default: `rows`. */
  readonly form?: 'text' | 'rows' | undefined
}

/** The result of `prepare`, for the other handlers of its event. */
export interface Prepared {
  readonly result: unknown
  readonly findings: readonly Finding[]
}

/**
 * One event while it runs: its unit of work and its caller, its findings, and what its application code sees. Most events
 * run no code: what only code uses is created at its first use.
 */
export class Scope implements ServingScope {
  readonly unit: Unit
  readonly caller: Caller
  readonly collection: PublishedCollection
  /** The result of `prepare`. */
  readonly prepared: unknown
  readonly form: 'text' | 'rows'
  readonly findings: Finding[]
  readonly #event: EventName
  readonly #name: string
  readonly #access: NestedAccess
  #calls: NestedCalls | undefined
  #counted: Unit | undefined
  #stop: AbortController | undefined
  #context: HandlerContext | undefined
  #source: StorageTransaction | undefined

  /** Opens a scope. `access` is how the code of the event reaches collections. */
  constructor(unit: Unit, caller: Caller, subject: ScopeSubject, access: NestedAccess) {
    const { collection, event, name = event, prepared, form = 'rows' } = subject
    this.unit = unit
    this.caller = caller
    this.collection = collection
    this.prepared = prepared?.result
    this.form = form
    this.findings = prepared === undefined ? [] : [...prepared.findings]
    this.#event = event
    this.#name = name
    this.#access = access
  }

  /** Where the items of its collection are read and written. Before the event has a transaction, there is none. */
  get source(): StorageTransaction {
    const { serve } = this.collection
    return (this.#source ??=
      serve === undefined ? this.unit.requireTransaction() : servedSource(this, serve))
  }

  /** The calls that its application code makes to collections. */
  get calls(): NestedCalls {
    return (this.#calls ??= nestedCalls())
  }

  /** Returns a collection for its application code, with the rights of a principal. */
  access(collection: PublishedCollection, principal: Principal): CollectionAccess<CollectionShape> {
    this.#counted ??= this.unit.countedBy(this.calls.storage)
    const invoker = { ...this.caller, principal, confirmed: new Set<string>() }
    return this.calls.watchAccess(this.#access(this.#counted, invoker, collection))
  }

  /** Returns the context of handlers and rules, which is created once. */
  context(): HandlerContext {
    return (this.#context ??= this.#createContext())
  }

  #createContext(): HandlerContext {
    const { unit, caller, calls } = this
    const event = this.#event
    const disconnected = caller.signal()
    const stop = (this.#stop = new AbortController()).signal
    const own = this.#collectionsFor(caller.principal)
    return {
      event,
      principal: caller.principal,
      signal: disconnected === undefined ? stop : AbortSignal.any([disconnected, stop]),
      now: unit.runtime.now,
      collection: own.collection,
      find: own.find,
      system: this.#collectionsFor(system),
      error: (message, field) => {
        this.#find('error', event, message, field)
      },
      warning: (name, message, field) => {
        this.#find('warning', `${event}:${name}`, message, field)
      },
      information: (message, field) => {
        this.#find('information', event, message, field)
      },
      reject: (message, field) => {
        throw new HandlerRejection(this.#find('error', event, message, field))
      },
      ...joinable(unit, calls),
    }
  }

  #collectionsFor(principal: Principal): System {
    const { unit, calls } = this
    const { application } = this.collection
    const collection = ((reference: string) =>
      this.access(unit.runtime.collectionOf(application, reference), principal)) as CollectionLookup
    const find = ((reference: string, conditions: unknown = {}, options: unknown = {}) => {
      const items = async () => {
        requirePlainObject('The conditions', conditions, 'find')
        requirePlainObject('The options of find', options, 'find')
        return (await collection(reference).filter(conditions, options)).items
      }
      return calls.watch('find', items())
    }) as Find
    return { collection, find }
  }

  /** Adds a finding of a handler, and returns its message. */
  #find(severity: Finding['severity'], name: string, message: unknown, field?: string): string {
    const given = givenMessage(message)
    if (field !== undefined) fieldOf(this.collection, field)
    this.findings.push({ severity, name, field, ...given })
    return given.message
  }

  /** Adds the results of the definition's own checks. */
  add(entries: readonly ValidationEntry[]): void {
    for (const entry of entries) {
      const { severity, message, field } = entry
      this.findings.push({ severity, name: '', message, field, source: messageFrom(entry) })
    }
  }

  /**
   * Calls a rule, a handler or a serving function; see `callApplication`. Its time limit is in milliseconds,
   * by default `handlerTimeout`.
   */
  call<Result>(
    callee: string,
    run: () => MaybePromise<Result>,
    limit?: number,
  ): MaybePromise<Result> {
    const { unit, collection } = this
    const { runtime, budget } = unit
    const place = this.#place()
    unit.callsCode()
    const abort = (): void => this.#stop?.abort()
    // Without a transaction, no other writer waits for the code.
    const onWait = (): void => {
      if (unit.transaction !== undefined) runtime.waiting.set(collection, true)
    }
    const isInStorage = (): boolean => this.#calls?.storage.areInProgress() === true
    const ended = (): MaybePromise<Result> => this.#untilCallsEnd(run)
    const code = { place, name: callee, run: ended, limit, abort, onWait, isInStorage, budget }
    return whenSettled(
      () => callApplication(runtime, code),
      (result) => {
        const error = this.#calls?.unawaited()
        if (error === undefined) return result
        throw this.#unawaited(callee, error)
      },
      (reason) => {
        const error = this.#calls?.unawaited()
        if (error !== undefined && reason instanceof HandlerRejection)
          throw this.#unawaited(callee, error)
        // Application code may catch the error, but a call may still write.
        if (error !== undefined || this.#calls?.isRunning() === true) unit.fail(reason)
        throw reason
      },
    )
  }

  #place(): EventPlace {
    const { application, name } = this.collection
    return { application, collection: name, event: this.#name }
  }

  /** Reports a call that was not awaited. What it writes later must be rolled back, too. */
  #unawaited(callee: string, error: Error): Error {
    const { unit } = this
    unit.runtime.report({ type: 'handler-failed', place: this.#place(), name: callee, error })
    const failure = internal(error)
    unit.fail(failure)
    return failure
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

  /**
   * Runs work until application code calls `reject`, whose message is among the findings then. Returns
   * whether the work was completed.
   */
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
