import type { Handlers } from './handlers.ts'
import type { CollectionShape } from './item.ts'
import { withoutUndefined } from '../checks/options.ts'

/** The handlers of a collection by event. Those of Save are part of Insert and Update. */
export type PublishedHandlers = Omit<Handlers<CollectionShape>, 'Save'>

type Moments = Readonly<Record<string, Handler>>
type Handler = (event: never) => unknown

/** Returns a copy of handlers, with those of Save joined into Insert and Update. */
export function publishHandlers(declared: Handlers<CollectionShape> = {}): PublishedHandlers {
  const { Save, ...events } = withoutUndefined(declared) as Readonly<Record<string, Moments>>
  const copies = Object.fromEntries(
    Object.entries(events).map(([name, moments]) => [name, withoutUndefined(moments)]),
  )
  if (Save !== undefined) {
    const shared = withoutUndefined(Save)
    for (const name of ['Insert', 'Update']) copies[name] = joined(shared, copies[name] ?? {})
  }
  const frozen = Object.entries(copies).map(([name, moments]) => [name, Object.freeze(moments)])
  return Object.freeze(Object.fromEntries(frozen) as PublishedHandlers)
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

function inOrder(first: Handler, second: Handler): Handler {
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
function independent(first: Handler, second: Handler): Handler {
  return async (event) => {
    try {
      await first(event)
    } finally {
      await second(event)
    }
  }
}

function isAsync(handler: Handler): boolean {
  return handler.constructor.name === 'AsyncFunction'
}
