import { continues, isServiceError, type ServiceError } from '../errors.ts'
import type { Surround } from '../events/units/unit.ts'
import { asServiceError } from '../failure.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Report } from '../observation/reports.ts'
import type { Outcome } from '../request/outcome.ts'
import type { ServiceReply } from '../request/request.ts'
import type { StorageTransaction } from '../storage/adapter.ts'
import { isConflict } from '../work/repeat-conflicts.ts'
import { KeyLimit } from './key-limit.ts'
import { inProgress, isExpired, replayOf, usedOtherwise, type KeyRecord } from './key-record.ts'
import { KeyTaken, type KeyStore } from './key-store.ts'
import type { KeyedRequest } from './keyed-request.ts'

/** How a request is executed. */
export interface Execution {
  /** Runs the event of the request once, with work around it in its transaction, if it has one. */
  readonly run: (surround?: Surround) => MaybePromise<Outcome>
  /** Returns the reply for an outcome. */
  readonly replyTo: (outcome: Outcome) => MaybePromise<ServiceReply>
  /** Returns the reply for an error. */
  readonly replyToError: (error: ServiceError) => ServiceReply
}

/** What {@link KeyedReplies} uses. */
export interface KeyedRepliesDependencies {
  readonly store: KeyStore
  readonly now: () => Date
  /** The time limit of a function that serves a collection, in milliseconds. */
  readonly handlerTimeout: number
  readonly report: Report
}

/** The responses of requests with idempotency keys: each request is executed once, and its response is kept. */
export class KeyedReplies {
  readonly #dependencies: KeyedRepliesDependencies
  readonly #limit: KeyLimit
  // The digests of the requests in progress in this process, by those of their keys.
  readonly #running = new Map<string, string>()

  constructor(dependencies: KeyedRepliesDependencies) {
    this.#dependencies = dependencies
    this.#limit = new KeyLimit(dependencies.store)
  }

  /** Executes a request, or returns the stored response of one with the same key. Throws what the client receives instead. */
  async reply(keyed: KeyedRequest, execution: Execution): Promise<ServiceReply> {
    const running = this.#running.get(keyed.id)
    if (running !== undefined) throw running === keyed.request ? inProgress() : usedOtherwise()
    this.#running.set(keyed.id, keyed.request)
    try {
      const { store, now } = this.#dependencies
      const found = await store.find(keyed)
      if (found !== undefined && !isExpired(found, now())) return await this.#replay(found, keyed)
      // A record that has expired is counted already.
      if (found === undefined) await this.#limit.add(keyed)
      const isServed = keyed.collection.serve !== undefined
      return await (isServed
        ? this.#executeServed(keyed, execution, found)
        : this.#execute(keyed, execution, found))
    } finally {
      this.#running.delete(keyed.id)
    }
  }

  /** Executes a request whose record is stored in its transaction, or after it if that was rolled back. */
  async #execute(
    keyed: KeyedRequest,
    { run, replyTo, replyToError }: Execution,
    expired: KeyRecord | undefined,
  ): Promise<ServiceReply> {
    const { store } = this.#dependencies
    let kept: { readonly outcome: unknown; readonly reply: ServiceReply } | undefined
    const surround = async <Result>(
      on: StorageTransaction,
      work: () => MaybePromise<Result>,
    ): Promise<Result> => {
      await store.claim(on, keyed, expired)
      const outcome = await work()
      const reply = await replyTo(outcome as Outcome)
      await store.complete(on, keyed, reply)
      kept = { outcome, reply }
      return outcome
    }
    let outcome: Outcome
    try {
      outcome = await run(surround)
    } catch (error) {
      return this.#keepError(error, { keyed, expired }, replyToError)
    }
    // Otherwise the event was rejected after it had written, so that the record was rolled back as well.
    if (kept?.outcome === outcome) return kept.reply
    return this.#keep(await replyTo(outcome), { keyed, expired })
  }

  /** Stores the response to an error that the request itself has caused, and throws the error. */
  async #keepError(
    error: unknown,
    subject: Subject,
    replyToError: Execution['replyToError'],
  ): Promise<ServiceReply> {
    if (error instanceof KeyTaken || isConflict(error)) {
      const found = await this.#dependencies.store.find(subject.keyed)
      if (found !== undefined && !isExpired(found, this.#dependencies.now()))
        return this.#replay(found, subject.keyed)
      // The other request has been rolled back meanwhile.
      throw error instanceof KeyTaken ? inProgress() : error
    }
    const failure = answerOf(error)
    if (failure === undefined || failure.code === 'REQUEST_IN_PROGRESS') throw error
    const reply = replyToError(failure)
    const stored = await this.#keep(reply, subject)
    if (stored === reply) throw error
    return stored
  }

  /** Stores a response of which nothing is committed yet. If another request has stored its own meanwhile, returns that. */
  async #keep(reply: ServiceReply, { keyed, expired }: Subject): Promise<ServiceReply> {
    const { store } = this.#dependencies
    try {
      await store.add(keyed, expired, reply)
      return reply
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error
      const found = await store.find(keyed)
      if (found === undefined) throw inProgress()
      return this.#replay(found, keyed)
    }
  }

  /**
   * Executes a request of a collection that is served by functions. What they write can't be committed with the record, so
   * that this is stored before and after it. If the process ends in between, the request is not executed again.
   */
  async #executeServed(
    keyed: KeyedRequest,
    { run, replyTo, replyToError }: Execution,
    expired: KeyRecord | undefined,
  ): Promise<ServiceReply> {
    const { store, handlerTimeout } = this.#dependencies
    const { timeout = handlerTimeout } = keyed.collection.serve ?? {}
    const limit = 2 * timeout + 4 * handlerTimeout
    try {
      await store.write((on) => store.claim(on, keyed, expired, limit))
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error
      const found = await store.find(keyed)
      if (found === undefined) throw inProgress()
      return this.#replay(found, keyed)
    }
    let outcome: Outcome
    try {
      outcome = await run()
    } catch (error) {
      const failure = answerOf(error)
      await this.#attempt(() => {
        if (failure === undefined) return store.end(keyed, hasEffect(error) ? 'unknown' : 'removed')
        return store.write((on) => store.complete(on, keyed, replyToError(failure)))
      })
      throw error
    }
    const reply = await replyTo(outcome)
    await this.#attempt(() => store.write((on) => store.complete(on, keyed, reply)))
    return reply
  }

  /** Stores how a request has ended that can't be undone. A failure is reported: the client receives the response. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#dependencies.report({ type: 'request-failed', place: null, error })
    }
  }

  #replay(record: KeyRecord, keyed: KeyedRequest): Promise<ServiceReply> {
    return replayOf(record, keyed, this.#dependencies.now())
  }
}

interface Subject {
  readonly keyed: KeyedRequest
  readonly expired: KeyRecord | undefined
}

/** Returns the error with which a request has ended for good; undefined if a repetition may succeed. */
function answerOf(error: unknown): ServiceError | undefined {
  // It is reported when it is sent.
  const failure = asServiceError(
    error,
    () => undefined,
    () => null,
  )
  return failure.status < 500 && failure.status !== 429 ? failure : undefined
}

/**
 * Returns whether functions may have had an effect before they failed. An error that says that a system is not available,
 * or that there are too many requests, says that nothing was done, unless it is marked with {@link continues}.
 */
function hasEffect(error: unknown): boolean {
  const { status } = asServiceError(
    error,
    () => undefined,
    () => null,
  )
  if (status !== 503 && status !== 429) return true
  return continues in Object(isServiceError(error) ? error.cause : error)
}
