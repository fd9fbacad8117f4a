import type { ValidationEntry } from '../protocol/envelope.ts'
import { hasLengthWithin } from '../protocol/code-points.ts'
import { canonicalJson, type Json } from '../protocol/json.ts'
import type { Bounds, Field, TextOptions } from './field.ts'
import { fieldTypes } from './field-type.ts'
import { compilePattern } from './pattern.ts'

/**
 * Returns an error for each constraint of a field that a value does not satisfy. Null and absent values have
 * none.
 */
export type CheckValue = (value: unknown) => readonly ValidationEntry[]

/** Returns whether a value satisfies a constraint. */
type Test = (value: Json) => boolean

interface Constraint {
  readonly test: Test
  /** What the value must be or have, as the end of a message. */
  readonly message: () => string
}

/** The constraints of a field, in the order in which they are checked. */
interface FieldConstraints {
  readonly isOfJsonType: Test
  readonly accepts: Test
  readonly mustBe: () => string
  /** Checked only if the type accepts the value. */
  readonly others: readonly Constraint[]
  readonly lengths: readonly Constraint[]
}

/**
 * Returns the check of the type and constraints of a field. It is compiled at its first use, so the field must
 * not change. It rejects every value that `fieldSchema` rejects, except other spellings of what that accepts, such as
 * `-0.0` for a decimal, and those that JSON Schema can't express.
 */
export function compileConstraints(name: string, field: Field): CheckValue {
  let compiled: FieldConstraints | undefined
  return (value) => {
    if (value === undefined || value === null) return none
    compiled ??= constraintsOf(field)
    const messages = messagesOf(compiled, value as Json)
    if (messages.length === 0) return none
    return messages.map((message) => ({
      message: `${name} ${message}.`,
      severity: 'error',
      field: name,
    }))
  }
}

const none: readonly never[] = []

// A value of the wrong type has one message, and one for its length if it is a string.
function messagesOf(constraints: FieldConstraints, value: Json): readonly string[] {
  const { isOfJsonType, accepts, mustBe, others, lengths } = constraints
  if (!isOfJsonType(value)) return [mustBe()]
  const messages = accepts(value) ? failed(others, value) : [mustBe()]
  const ofLength = failed(lengths, value)
  return ofLength.length === 0 ? messages : [...messages, ...ofLength]
}

function failed(constraints: readonly Constraint[], value: Json): readonly string[] {
  let messages: string[] | undefined
  for (const { test, message } of constraints) {
    if (!test(value)) (messages ??= []).push(message())
  }
  return messages ?? none
}

function constraintsOf(field: Field): FieldConstraints {
  const type = fieldTypes[field.type]
  return {
    isOfJsonType: jsonTypeTest(field),
    accepts: (value) => type.accepts(value, field),
    mustBe: () => `must be ${type.mustBe(field)}`,
    others: [...patternOf(field), ...enumerationOf(field), ...boundsOf(field)],
    lengths: lengthsOf(field as TextOptions),
  }
}

// Values of bigint and json have more than one JSON type, which `accepts` checks.
function jsonTypeTest(field: Field): Test {
  const { jsonType } = fieldTypes[field.type]
  if (jsonType === undefined || field.type === 'bigint') return () => true
  return (value) => typeof value === jsonType
}

function lengthsOf({ minLength, maxLength }: TextOptions): readonly Constraint[] {
  const within = (minimum: number, maximum: number): Test => {
    return (value) => hasLengthWithin(value as string, minimum, maximum)
  }
  return [
    ...(maxLength === undefined
      ? []
      : [
          {
            test: within(0, maxLength),
            message: () => `must have at most ${maxLength} characters`,
          },
        ]),
    ...(minLength === undefined
      ? []
      : [
          {
            test: within(minLength, Infinity),
            message: () => `must have at least ${minLength} characters`,
          },
        ]),
  ]
}

function patternOf(field: Field): readonly Constraint[] {
  const text = field as TextOptions
  if (text.pattern === undefined) return none
  const matches = compilePattern(text)
  return [
    {
      test: (value) => typeof value !== 'string' || matches(value),
      message: () => 'does not have the required form',
    },
  ]
}

function enumerationOf(field: Field): readonly Constraint[] {
  const { enumeration } = field
  if (enumeration === undefined) return none
  const { store } = fieldTypes[field.type]
  const isJson = field.type === 'json'
  const formOf = (value: Json) => (isJson ? canonicalJson(value) : store(value, field))
  const allowed = new Set(enumeration.map(formOf))
  const shown = (value: Json) => String(typeof value === 'object' ? store(value, field) : value)
  return [
    {
      test: (value) => allowed.has(formOf(value)),
      message: () => `must be one of ${enumeration.map(shown).join(', ')}`,
    },
  ]
}

function boundsOf(field: Field): readonly Constraint[] {
  const { minimum, maximum } = field as Bounds<Json>
  const { store, compare } = fieldTypes[field.type]
  if (compare === undefined) return none
  const bound = (limit: Json | undefined, direction: 1 | -1, text: string) => {
    if (limit === undefined) return []
    const stored = store(limit, field)
    const test: Test = (value) => compare(store(value, field), stored) * direction >= 0
    return [{ test, message: () => `must be ${text} ${String(limit)}` }]
  }
  return [...bound(minimum, 1, 'at least'), ...bound(maximum, -1, 'at most')]
}
