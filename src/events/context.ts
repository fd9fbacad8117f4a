import type {
  EventName,
  Find,
  HandlerContext,
  CollectionLookup,
  System,
} from '../definition/handler.ts'
import { system, type Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Finding } from '../request/findings.ts'
import { fieldOf } from './conditions.ts'
import { HandlerRejection } from './guard.ts'
import type { NestedCalls } from './nested-calls.ts'
import type { NestedAccess, Terms } from './runtime.ts'

/** What the context of a handler is created from, besides the terms of its event. */
export interface HandlerSurroundings {
  readonly findings: Finding[]
  readonly stop: AbortSignal
  readonly calls: NestedCalls
  readonly access: NestedAccess
}

/** Creates the context that handlers and rules of an event receive. */
export function handlerContext(
  terms: Terms,
  { collection, event }: { readonly collection: PublishedCollection; readonly event: EventName },
  { findings, stop, calls, access }: HandlerSurroundings,
): HandlerContext {
  const { runtime, caller } = terms
  const left = caller.signal()
  const reachAs = (principal: Principal): System => {
    const reach = ((reference: string) => {
      const reached = runtime.collectionOf(collection.application, reference)
      const own = { ...caller, principal, confirmed: new Set<string>() }
      return calls.watchAccess(access({ ...terms, caller: own }, reached))
    }) as CollectionLookup
    const find = ((reference: string, conditions?: never, options = {}) => {
      const items = async () => (await reach(reference).filter(conditions, options)).items
      return calls.watch('find', items())
    }) as Find
    return { collection: reach, find }
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
    signal: left === undefined ? stop : AbortSignal.any([left, stop]),
    now: runtime.now,
    ...reachAs(caller.principal),
    system: reachAs(system),
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
