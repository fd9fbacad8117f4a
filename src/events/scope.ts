import type { EventName, HandlerContext } from '../definition/handler.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Finding } from '../request/findings.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import { handlerContext } from './context.ts'
import { internal } from '../errors.ts'
import { callApplication, HandlerRejection } from './guard.ts'
import { nestedCalls, type NestedCalls } from './nested-calls.ts'
import type { NestedAccess, Terms } from './runtime.ts'

/** One event while it runs: its terms, its findings, and what its application code sees. */
export interface Scope {
  readonly terms: Terms
  readonly findings: Finding[]
  /** Returns the context of handlers and rules, which is created once. */
  readonly context: () => HandlerContext
  /** Adds the results of the definition's own checks. */
  add(entries: readonly ValidationEntry[]): void
  /** The calls that its application code makes to collections. */
  readonly calls: NestedCalls
  /** Calls a rule or handler; see `callApplication`. */
  call<Result>(name: string, run: () => Result | Promise<Result>): Promise<Result>
  /** Runs work until a handler calls `reject`, whose message is among the findings then. */
  untilRejected(work: () => Promise<void>): Promise<void>
}

/**
 * Opens the scope of one event. `name` is that of a user-defined event; `access` is how the code of the
 * event reaches collections.
 */
export function openScope(
  terms: Terms,
  subject: {
    readonly collection: PublishedCollection
    readonly event: EventName
    readonly name?: string
  },
  access: NestedAccess,
): Scope {
  const { collection, event, name = event } = subject
  const { runtime } = terms
  const findings: Finding[] = []
  const place = { application: collection.application, collection: collection.name, event: name }
  const calls = nestedCalls()
  let stop: AbortController | undefined
  let context: HandlerContext | undefined
  const onWait = () => runtime.waiting.set(collection, true)
  return {
    terms,
    findings,
    context: () => {
      stop ??= new AbortController()
      context ??= handlerContext(terms, subject, { stop: stop.signal, findings, calls, access })
      return context
    },
    add: (entries) => {
      for (const { severity, message, field } of entries)
        findings.push({ severity, name: '', message, field })
    },
    calls,
    call: async (callee, run) => {
      const abort = (): void => stop?.abort()
      const result = await callApplication(runtime, { place, name: callee, run, abort, onWait })
      const error = calls.unawaited()
      if (error === undefined) return result
      // What the call writes later must be rolled back, too.
      const failure = internal(error)
      terms.running.log.failure ??= { error: failure }
      runtime.report({ type: 'handler-failed', place, name: callee, error })
      throw failure
    },
    untilRejected: async (work) => {
      try {
        await work()
      } catch (error) {
        if (!(error instanceof HandlerRejection)) throw error
      }
    },
  }
}
