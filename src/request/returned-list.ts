import { isThenable } from '../maybe-promise.ts'

/** A list that other code has returned. */
export interface ReturnedList<Entry> {
  readonly length: number
  /** Returns a copy of which each entry was read once. A hole is undefined. */
  entries(): readonly Entry[]
}

/**
 * Returns a list that other code has returned, also one of a class of lists or of a proxy. Undefined if it is not a
 * list. Its methods are not called: array methods skip holes, and other methods may return anything.
 */
export function returnedList<Entry>(value: unknown): ReturnedList<Entry> | undefined {
  if (!Array.isArray(value)) return undefined
  const length: unknown = value.length
  if (!Number.isSafeInteger(length) || (length as number) < 0) return undefined
  return {
    length: length as number,
    entries() {
      const entries: Entry[] = []
      for (let index = 0; index < (length as number); index++) entries.push(value[index] as Entry)
      return entries
    },
  }
}

/** Checks what other code has returned. If the check throws, promises within it end nothing. */
export function checkReturned<Value, Checked>(
  returned: Value,
  check: (returned: Value) => Checked,
): Checked {
  try {
    return check(returned)
  } catch (error) {
    ignoreRejections(returned)
    throw error
  }
}

// A page has rows, and these have values.
const maxDepth = 3

/**
 * Handles the rejections of promises that are in place of values in what other code has returned, and that is rejected.
 * Without a handler, they would end the process.
 */
export function ignoreRejections(value: unknown, depth = maxDepth): void {
  if (typeof value !== 'object' || value === null) return
  if (isThenable<unknown>(value)) Promise.resolve(value).catch(() => undefined)
  if (depth === 0) return
  for (const member of Object.values(Object.getOwnPropertyDescriptors(value))) {
    ignoreRejections(member.value, depth - 1)
  }
}
