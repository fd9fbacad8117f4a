import { isStorageError, type StorageErrorKind } from '../storage/adapter.ts'

/** Throws an Error with the message unless the condition holds. */
export function ensure(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message)
}

/** Throws unless two plain values are equal. The order of an object's members does not matter. */
export function equal(actual: unknown, expected: unknown, subject: string): void {
  if (isSame(actual, expected)) return
  throw new Error(`${subject}\n  expected ${show(expected)}\n  but got  ${show(actual)}`)
}

/** Throws unless the call rejects with a StorageError of the kind. Returns the fields of the error. */
export async function expectStorageError(
  call: () => unknown,
  kind: StorageErrorKind,
  subject: string,
): Promise<readonly string[]> {
  const error = await expectRejection(call, subject)
  ensure(isStorageError(error), `${subject}: expected a StorageError, but got ${String(error)}`)
  const storageError = error as { readonly kind: string; readonly fields: readonly string[] }
  equal(storageError.kind, kind, `${subject}: the kind of the StorageError`)
  return storageError.fields
}

/** Throws unless the call throws or rejects. Returns the reason. */
export async function expectRejection(call: () => unknown, subject: string): Promise<unknown> {
  let value: unknown
  try {
    value = await call()
  } catch (error) {
    return error
  }
  throw new Error(`${subject}: expected a rejection, but it resolved with ${show(value)}`)
}

/** Returns a value as ASCII text, in which characters that look alike differ. */
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
  const [members, others] = [Object.entries(left), new Map<string, unknown>(Object.entries(right))]
  if (members.length !== others.size) return false
  return members.every(([name, value]) => others.has(name) && isSame(value, others.get(name)))
}
