import type { CollectionAccess } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import { StorageCalls } from './units/storage-calls.ts'

/** The calls that the application code of one event makes to collections. */
export interface NestedCalls {
  /** What they wait for. */
  readonly storage: StorageCalls
  /** Returns the same access with each call tracked. */
  watchAccess(access: CollectionAccess<CollectionShape>): CollectionAccess<CollectionShape>
  /** Returns the same promise. Its rejection is never unhandled, which would end the process. */
  watch<Result>(name: string, call: Promise<Result>): Promise<Result>
  /**
   * Returns a promise that resolves once all awaited calls have ended, which may run longer than the code that made
   * them. Undefined if there are none, or if a call was not awaited, so that the event fails anyway.
   */
  ended(): Promise<void> | undefined
  /**
   * Returns an error if a call was not awaited, whether or not it has ended: with one storage, it has ended when the
   * code that made it ends, and with another one it has not.
   */
  unawaited(): Error | undefined
  /** Returns whether a call is still running. */
  isRunning(): boolean
}

/** A call that was not awaited yet. */
interface OpenCall {
  readonly name: string
  cause?: unknown
}

/** Creates a tracker of calls. */
export function nestedCalls(): NestedCalls {
  const open = new Set<OpenCall>()
  const running = new Set<Promise<unknown>>()
  let found: Error | undefined

  function watch<Result>(name: string, call: Promise<Result>): Promise<Result> {
    const own: OpenCall = { name }
    open.add(own)
    const end: Promise<unknown> = call.then(
      () => running.delete(end),
      (cause: unknown) => {
        running.delete(end)
        own.cause = cause
      },
    )
    running.add(end)
    // Without a constructor of its own kind, `await` and Promise.all call this method.
    return Object.defineProperties(call, {
      constructor: { value: undefined },
      then: {
        value: (...handlers: Parameters<Promise<Result>['then']>) => {
          open.delete(own)
          return Promise.prototype.then.apply(call, handlers)
        },
      },
    })
  }

  function ended(): Promise<void> | undefined {
    if (running.size === 0 || open.size > 0) return undefined
    // Code that waits for a call may make further calls.
    return Promise.all(running).then(ended)
  }

  return {
    storage: new StorageCalls(),
    watch,
    watchAccess(access) {
      const methods = access as unknown as Readonly<Record<string | symbol, Method>>
      const watched: Record<string | symbol, Method> = {}
      for (const name of Reflect.ownKeys(access)) {
        const method = methods[name] as Method
        watched[name] = (...given) => watch(String(name), method(...given))
      }
      return Object.freeze(watched) as unknown as CollectionAccess<CollectionShape>
    },
    ended,
    unawaited() {
      const [first] = open
      found ??= first && notAwaited(first)
      return found
    },
    isRunning: () => running.size > 0,
  }
}

type Method = (...given: unknown[]) => Promise<unknown>

function notAwaited({ name, cause }: OpenCall): Error {
  return new Error(`The call of ${name} was not awaited: put await before it.`, { cause })
}
