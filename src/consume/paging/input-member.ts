import { isPlainObject } from '../../checks/plain-object.ts'
import { keysOf, setMember, valueBelow } from '../json-path.ts'

/** Members of an input. */
type Members = Readonly<Record<string, unknown>>

/** Returns whether the name of a parameter is the path of a member of the body: `body/page/after`. */
export function isInBody(parameter: string): boolean {
  return parameter.startsWith('body/')
}

/** Returns the value of a parameter of an input, which may be a member of its body; undefined if it has none. */
export function inputMember(input: object, parameter: string): unknown {
  return valueBelow(input, keysOfParameter(parameter))
}

/**
 * Returns an input with the members of all inputs, of which later ones replace earlier ones. Parameters that are members
 * of the body are set there, and bodies are joined at any depth.
 */
export function joinInputs(...inputs: readonly (object | undefined)[]): Members {
  const joined: Record<string, unknown> = {}
  for (const input of inputs)
    for (const [parameter, value] of Object.entries(input ?? {})) {
      const [name = '', ...keys] = keysOfParameter(parameter)
      const nested = keys.reduceRight((inner, key) => objectOf(key, inner), value as unknown)
      setMember(joined, name, name === 'body' ? joinBodies(joined[name], nested) : nested)
    }
  return joined
}

function joinBodies(one: unknown, other: unknown): unknown {
  if (!isPlainObject(one) || !isPlainObject(other)) return other
  const both = { ...one }
  for (const [name, value] of Object.entries(other))
    setMember(both, name, joinBodies(Object.hasOwn(one, name) ? one[name] : undefined, value))
  return both
}

function objectOf(key: string, value: unknown): object {
  const object = {}
  setMember(object, key, value)
  return object
}

function keysOfParameter(parameter: string): readonly string[] {
  return isInBody(parameter) ? keysOf(parameter) : [parameter]
}
