import type { EventName, HandlerContext } from '../definition/handler.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Finding } from '../request/findings.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import { handlerContext } from './context.ts'
import { internal } from '../errors.ts'
import { callHost, Refusal } from './guard.ts'
import { nestedCalls, type NestedCalls } from './nested-calls.ts'
import type { NestedAccess, Terms } from './runtime.ts'

/** One event as the host's code meets it: what it sees, and what it finds. */
export interface Scope {
  readonly terms: Terms
  readonly findings: Finding[]
  /** What handlers and rules see; made when the first of them is called. */
  readonly context: () => HandlerContext
  /** Records what the definition's own checks found. */
  add(entries: readonly ValidationEntry[]): void
  /** The calls that its code makes to collections. */
  readonly calls: NestedCalls
  /** Calls a rule or handler; see `callHost`. */
  call<Result>(name: string, run: () => Result | Promise<Result>): Promise<Result>
  /** Does work until a handler refuses; the refusal is among the findings then. */
  untilRefused(work: () => Promise<void>): Promise<void>
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
      const result = await callHost(runtime, { place, name: callee, run, abort, onWait })
      const error = calls.unawaited()
      if (error === undefined) return result
      // What the call writes later must not be saved either.
      const failure = internal(error)
      terms.running.log.failure ??= { error: failure }
      runtime.report({ type: 'handler-failed', place, name: callee, error })
      throw failure
    },
    untilRefused: async (work) => {
      try {
        await work()
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
      }
    },
  }
}
