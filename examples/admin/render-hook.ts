import { Window } from 'happy-dom'
import { createElement, type ComponentType, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { expect } from 'vitest'

/** A hook that is rendered in a document. */
export interface RenderedHook<Result> {
  /** Waits until the latest result meets a condition, and returns it. */
  once(isMet: (result: Result) => boolean): Promise<Result>
  unmount(): void
}

/** Makes the document of a window without a screen global, as hooks expect it. */
export function openDocument(): () => void {
  const window = new Window({ url: 'http://localhost/' })
  const names = ['window', 'document', 'navigator', 'HTMLElement', 'history', 'localStorage']
  for (const name of names) {
    const value: unknown = name === 'window' ? window : window[name as 'document']
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  }
  return () => window.close()
}

/** Renders a hook within a component that provides its context. */
export function renderHook<Result>(
  useHook: () => Result,
  Context: ComponentType<{ readonly children: ReactNode }>,
): RenderedHook<Result> {
  let latest: { readonly result: Result } | undefined
  function Probe(): null {
    latest = { result: useHook() }
    return null
  }
  const root = createRoot(document.createElement('div'))
  root.render(createElement(Context, null, createElement(Probe)))
  return {
    once: async (isMet) => {
      await expect
        .poll(() => latest !== undefined && isMet(latest.result), { timeout: 10_000 })
        .toBe(true)
      return (latest as { readonly result: Result }).result
    },
    unmount: () => root.unmount(),
  }
}
