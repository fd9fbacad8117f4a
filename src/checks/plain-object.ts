/** An object whose members are all found by their names. */
export type PlainObject = Readonly<Record<string, unknown>>

/**
 * Returns whether a value is a plain object: one that an object literal or `JSON.parse` creates, in any realm, or that
 * has no prototype. All its members are enumerable values with a name. A promise, Map, Date, list or instance of a class
 * is none: members that its keys do not show would be ignored.
 */
export function isPlainObject(given: unknown): given is PlainObject {
  return isObject(given) && oddityOf(given) === undefined
}

/** Returns whether a value is an object, but neither a plain one nor a list: no field has such a value. */
export function isOdd(given: unknown): boolean {
  return isObject(given) && oddityOf(given) !== undefined
}

/**
 * Throws a TypeError unless a value of application code is a plain object. `what` names the value, and `call` the call
 * that has received it.
 */
export function requirePlainObject(
  what: string,
  given: unknown,
  call: string,
): asserts given is object {
  if (isPlainObject(given)) return
  const mustBe = isObject(given) ? 'a plain object' : 'an object'
  throw new TypeError(`${what} must be ${mustBe}: ${call} received ${describe(given)}`)
}

/**
 * Throws a TypeError unless a value has the prototype of a plain object. Definitions may be modules that are imported as
 * a whole, whose members are accessors, and definitions and schemas may be marked with symbols.
 */
export function requirePlainPrototype(what: string, given: object, call: string): void {
  if (!isObject(given) || !hasPlainPrototype(given)) requirePlainObject(what, given, call)
}

/** Returns advice for a value that must be a plain object and is another one. It quotes no values. */
export function plainObjectAdvice(given: unknown): string {
  return `must be a plain object, not ${describe(given).replace(/\.$/, '')}`
}

/**
 * Throws a TypeError if a value that is sent as JSON has an object of which JSON would have no members, such as a promise
 * or a Map, at any depth. An object with `toJSON` has a form of its own.
 */
export function requirePlainJson(
  what: string,
  given: unknown,
  call: string,
  above: readonly unknown[] = [],
): void {
  // A cycle has no JSON.
  if (typeof given !== 'object' || given === null || above.includes(given)) return
  if (typeof (given as { readonly toJSON?: unknown }).toJSON === 'function') return
  if (!Array.isArray(given) && !hasPlainPrototype(given)) {
    throw new TypeError(
      `${what} must be JSON of plain objects: ${call} received ${describedKind(given)}`,
    )
  }
  const path = [...above, given]
  for (const member of Object.values(given)) requirePlainJson(what, member, call, path)
}

/** Describes the kind of a value, without quoting it, as the end of a sentence. */
export function describe(given: unknown): string {
  if (given === null || given === undefined) return `${String(given)}.`
  if (Array.isArray(given)) return 'a list.'
  if (isObject(given)) return oddityOf(given) ?? 'an object.'
  return `a ${typeof given}.`
}

/** Returns whether an object has the prototype of a plain one. Its members may be accessors or not enumerable. */
export function hasPlainPrototype(given: object): boolean {
  const prototype = Object.getPrototypeOf(given) as object | null
  if (prototype === Object.prototype || prototype === null) return true
  // A prototype of another realm, such as a `vm` context or a test runner.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf')
}

function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

/** Describes what keeps an object from being plain; undefined if it is plain. */
function oddityOf(given: object): string | undefined {
  if (!hasPlainPrototype(given)) return describedKind(given)
  for (const name of Reflect.ownKeys(given)) {
    const member = Object.getOwnPropertyDescriptor(given, name) ?? {}
    if (typeof name === 'symbol' || member.enumerable !== true || !('value' in member))
      return `an object whose member ${String(name)} is a symbol, hidden or an accessor.`
    if (name === 'then' && typeof member.value === 'function') return describedKind(given)
  }
  return undefined
}

function describedKind(given: object): string {
  const { then, constructor } = given as Readonly<Record<string, unknown>>
  if (typeof then === 'function') return 'a Promise; is an await missing?'
  return typeof constructor === 'function' && constructor.name !== 'Object'
    ? `an instance of ${constructor.name}.`
    : 'an object that inherits members.'
}
