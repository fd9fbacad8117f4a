import { isStorageError, type StorageErrorKind } from '../storage/adapter.ts'

/** Fails the case unless it holds. */
export function ensure(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message)
}

/** Fails the case unless two plain values are the same, whatever the order of an object's members. */
export function equal(actual: unknown, expected: unknown, subject: string): void {
  if (isSame(actual, expected)) return
  throw new Error(`${subject}\n  expected ${show(expected)}\n  but got  ${show(actual)}`)
}

/** Fails the case unless the call rejects with a StorageError of the kind; gives the error's fields. */
export async function refused(
  call: () => unknown,
  kind: StorageErrorKind,
  subject: string,
): Promise<readonly string[]> {
  const error = await rejection(call, subject)
  ensure(isStorageError(error), `${subject}: expected a StorageError, but got ${String(error)}`)
  const storageError = error as { readonly kind: string; readonly fields: readonly string[] }
  equal(storageError.kind, kind, `${subject}: the kind of the StorageError`)
  return storageError.fields
}

/** Fails the case unless the call rejects; gives its reason. To throw at once counts as well. */
export async function rejection(call: () => unknown, subject: string): Promise<unknown> {
  let value: unknown
  try {
    value = await call()
  } catch (error) {
    return error
  }
  throw new Error(`${subject}: expected a rejection, but it resolved with ${show(value)}`)
}

/** A value as text in which look-alikes differ. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) return String(value)
  const visible = text.replace(/[^ -~]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  return visible.length <= 600 ? visible : `${visible.slice(0, 600)}... (${visible.length} long)`
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object') return false
  if (left === null || right === null || Array.isArray(left) !== Array.isArray(right)) return false
  const [mine, theirs] = [Object.entries(left), new Map<string, unknown>(Object.entries(right))]
  if (mine.length !== theirs.size) return false
  return mine.every(([name, value]) => theirs.has(name) && isSame(value, theirs.get(name)))
}
