import type { StorageAdapter } from '../adapter.ts'

// The function of the same adapter for one page.
const onePage = Symbol.for('rowgate.onePage')

const selfChecking = Symbol.for('rowgate.selfCheckingStorage')

/**
 * Marks a built-in adapter, which checks the values that it returns. Copies with other methods do not have the mark.
 */
export function markSelfChecking<Adapter extends StorageAdapter>(adapter: Adapter): Adapter {
  const { filterText, filterTexts } = adapter
  if (filterTexts !== undefined)
    Object.defineProperty(filterTexts, onePage, { value: filterText, configurable: true })
  return Object.defineProperty(adapter, selfChecking, { value: true })
}

/** Returns whether an adapter checks the values that it returns. */
export function isSelfChecking(adapter: StorageAdapter): boolean {
  return Object.hasOwn(adapter, selfChecking)
}

/**
 * Returns the `filterTexts` of an adapter. Undefined for a copy of a built-in one that has replaced `filterText`: what the copy
 * does for a page must not be left out for several.
 */
export function filterTextsOf({
  filterText,
  filterTexts,
  supports,
}: StorageAdapter): StorageAdapter['filterTexts'] {
  if (filterTexts === undefined || !supports.textPages) return undefined
  const isCopied = Object.hasOwn(filterTexts, onePage)
  const own: unknown = (filterTexts as { [onePage]?: unknown })[onePage]
  return isCopied && own !== filterText ? undefined : filterTexts
}
