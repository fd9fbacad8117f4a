import { useEffect, useState } from 'preact/hooks'

/** A value that components show and other code changes. */
export interface Store<Value> {
  readonly get: () => Value
  readonly set: (value: Value) => void
  /** Returns the value, and renders the calling component again when it changes. */
  readonly use: () => Value
}

/** Creates a store. */
export function createStore<Value>(initial: Value): Store<Value> {
  let current = initial
  const listeners = new Set<() => void>()
  return {
    get: () => current,
    set: (value) => {
      current = value
      for (const listener of [...listeners]) listener()
    },
    use: () => {
      const [, render] = useState({})
      useEffect(() => {
        const listener = () => render({})
        listeners.add(listener)
        // It may have changed between the first rendering and this effect.
        listener()
        return () => void listeners.delete(listener)
      }, [])
      return current
    },
  }
}
