import type { StorageAdapter } from '../adapter.ts'

// The function of the same adapter for one page.
const onePage = Symbol.for('rowgate.onePage')

const selfChecking = Symbol.for('rowgate.selfCheckingStorage')

/**
 * Marks a built-in adapter, which checks the values that it returns. Copies with other methods do not have the mark.
 */
export function markSelfChecking<Adapter extends StorageAdapter>(adapter: Adapter): Adapter {
  for (const several of [adapter.filterTexts, adapter.filterRelated])
    if (several !== undefined)
      Object.defineProperty(several, onePage, { value: adapter.filterText, configurable: true })
  return Object.defineProperty(adapter, selfChecking, { value: true })
}

/** Returns whether an adapter checks the values that it returns. */
export function isSelfChecking(adapter: StorageAdapter): boolean {
  return Object.hasOwn(adapter, selfChecking)
}

/**
 * Returns a function of an adapter that reads several pages at once. Undefined if it is the one of a built-in adapter, in a
 * copy that has replaced `filterText`: what the copy does for a page must not be left out for several.
 */
export function pagesOf<Several extends 'filterTexts' | 'filterRelated'>(
  adapter: StorageAdapter,
  name: Several,
): StorageAdapter[Several] {
  const { filterText, supports } = adapter
  const several = adapter[name]
  if (several === undefined || !supports.textPages) return undefined
  const isCopied = Object.hasOwn(several, onePage)
  const own: unknown = (several as { [onePage]?: unknown })[onePage]
  return isCopied && own !== filterText ? undefined : several
}
