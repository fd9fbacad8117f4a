import { messageOf, type Message, type Named } from '../messages/message.ts'
import { entryOf, type ValidationEntry } from '../protocol/envelope.ts'
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
  readonly message: (field: Named) => Message
}

/** The constraints of a field, in the order in which they are checked. */
interface FieldConstraints {
  readonly isOfJsonType: Test
  readonly accepts: Test
  readonly mustBe: Constraint['message']
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
  const named = { name, label: field.label }
  return (value) => {
    if (value === undefined || value === null) return none
    compiled ??= constraintsOf(field)
    const messages = messagesOf(compiled, value as Json)
    if (messages.length === 0) return none
    return messages.map((message) => entryOf(message(named), name))
  }
}

const none: readonly never[] = []

// A value of the wrong type has one message, and one for its length if it is a string.
function messagesOf(constraints: FieldConstraints, value: Json): readonly Constraint['message'][] {
  const { isOfJsonType, accepts, mustBe, others, lengths } = constraints
  if (!isOfJsonType(value)) return [mustBe]
  const messages = accepts(value) ? failed(others, value) : [mustBe]
  const ofLength = failed(lengths, value)
  return ofLength.length === 0 ? messages : [...messages, ...ofLength]
}

function failed(constraints: readonly Constraint[], value: Json): readonly Constraint['message'][] {
  let messages: Constraint['message'][] | undefined
  for (const { test, message } of constraints) {
    if (!test(value)) (messages ??= []).push(message)
  }
  return messages ?? none
}

function constraintsOf(field: Field): FieldConstraints {
  const type = fieldTypes[field.type]
  return {
    isOfJsonType: jsonTypeTest(field),
    accepts: (value) => type.accepts(value, field),
    mustBe: (named) => {
      const { text, values } = type.message(field)
      return { text, values: { field: named, ...values } }
    },
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
            message: (field: Named) => messageOf('maxLength', { field, maximum: maxLength }),
          },
        ]),
    ...(minLength === undefined
      ? []
      : [
          {
            test: within(minLength, Infinity),
            message: (field: Named) => messageOf('minLength', { field, minimum: minLength }),
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
      message: (named) => messageOf('pattern', { field: named }),
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
      message: (named) =>
        messageOf('enumeration', { field: named, values: enumeration.map(shown).join(', ') }),
    },
  ]
}

function boundsOf(field: Field): readonly Constraint[] {
  const { minimum, maximum } = field as Bounds<Json>
  const { store, compare } = fieldTypes[field.type]
  if (compare === undefined) return none
  const bound = (name: 'minimum' | 'maximum', limit: Json | undefined, direction: 1 | -1) => {
    if (limit === undefined) return []
    const shown = String(limit)
    const stored = store(limit, field)
    const test: Test = (value) => compare(store(value, field), stored) * direction >= 0
    const message = (field: Named): Message =>
      name === 'minimum'
        ? messageOf('minimum', { field, minimum: shown })
        : messageOf('maximum', { field, maximum: shown })
    return [{ test, message }]
  }
  return [...bound('minimum', minimum, 1), ...bound('maximum', maximum, -1)]
}
