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

/** Returns advice for a value that must be a plain object and is another one. It quotes no values. */
export function plainObjectAdvice(given: unknown): string {
  return `must be a plain object, not ${describe(given).replace(/\.$/, '')}`
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
  return prototype === Object.prototype || prototype === null || isOfAnotherRealm(prototype)
}

function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

/** Describes what keeps an object from being plain; undefined if it is plain. */
function oddityOf(given: object): string | undefined {
  if (!hasPlainPrototype(given)) return kindOf(given)
  for (const name of Reflect.ownKeys(given)) {
    if (typeof name === 'symbol') return 'an object with a symbol as a name.'
    const member = Object.getOwnPropertyDescriptor(given, name)
    if (member?.enumerable !== true) return `an object whose member ${name} is not enumerable.`
    if (member.get !== undefined || member.set !== undefined)
      return `an object whose member ${name} is an accessor.`
    if (name === 'then' && typeof member.value === 'function') return thenable
  }
  return undefined
}

const thenable = 'a Promise; is an await missing?'

function kindOf(given: object): string {
  if (typeof (given as { readonly then?: unknown }).then === 'function') return thenable
  const { constructor } = given
  const name: unknown = typeof constructor === 'function' ? constructor.name : ''
  return name === 'Object' || typeof name !== 'string' || name === ''
    ? 'an object that inherits members.'
    : `an instance of ${name}.`
}

const sourceOf = Function.prototype.toString

/** Returns whether a prototype is `Object.prototype` of another realm, such as that of a `vm` context or a test runner. */
function isOfAnotherRealm(prototype: object): boolean {
  if (Object.getPrototypeOf(prototype) !== null) return false
  const own: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
  return (
    typeof own === 'function' &&
    own.prototype === prototype &&
    sourceOf.call(own) === sourceOf.call(Object)
  )
}
