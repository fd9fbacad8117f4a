import type { CollectionAccess } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'

/** The calls that the application code of one event makes to collections. */
export interface NestedCalls {
  /** Returns the same access with each call tracked. */
  watchAccess(access: CollectionAccess<CollectionShape>): CollectionAccess<CollectionShape>
  /** Returns the same promise. Its rejection is never unhandled, which would end the process. */
  watch<Result>(name: string, call: Promise<Result>): Promise<Result>
  /** Returns an error if a call that was not awaited has failed, or is still running. */
  unawaited(): Error | undefined
}

/** Creates a tracker of calls. */
export function nestedCalls(): NestedCalls {
  const open = new Map<object, string>()
  let failed: Error | undefined

  function watch<Result>(name: string, call: Promise<Result>): Promise<Result> {
    const mark = {}
    let isAwaited = false
    open.set(mark, name)
    call.then(
      () => open.delete(mark),
      (cause: unknown) => {
        open.delete(mark)
        if (!isAwaited) failed ??= notAwaited(name, cause)
      },
    )
    // Without a constructor of its own kind, `await` and Promise.all call this method.
    return Object.defineProperties(call, {
      constructor: { value: undefined },
      then: {
        value: (...handlers: Parameters<Promise<Result>['then']>) => {
          isAwaited = true
          open.delete(mark)
          return Promise.prototype.then.apply(call, handlers)
        },
      },
    })
  }

  return {
    watch,
    watchAccess(access) {
      const methods = Object.entries(access as unknown as Record<string, Method>)
      const watched = methods.map(([name, method]) => [
        name,
        (...given: unknown[]) => watch(name, method(...given)),
      ])
      return Object.freeze(Object.fromEntries(watched)) as CollectionAccess<CollectionShape>
    },
    unawaited() {
      if (failed !== undefined) return failed
      const [name] = open.values()
      return name === undefined ? undefined : notAwaited(name, undefined)
    },
  }
}

type Method = (...given: unknown[]) => Promise<unknown>

function notAwaited(name: string, cause: unknown): Error {
  return new Error(`The call of ${name} was not awaited: put await before it.`, { cause })
}
