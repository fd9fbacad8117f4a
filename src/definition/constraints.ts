import { Ajv2020, type ErrorObject, type FuncKeywordDefinition } from 'ajv/dist/2020.js'
import type { ValidationEntry } from '../protocol/envelope.ts'
import type { Json } from '../protocol/json.ts'
import type { Bounds, Field, Fields, TextOptions } from './field.ts'
import { fieldTypes } from './field-type.ts'
import { compilePattern } from './pattern.ts'
import { fieldSchema, type JsonSchema } from './schema.ts'

/**
 * Returns an error for each constraint that a value does not satisfy, in definition order. Null and absent
 * values pass. Unknown names are ignored.
 */
export type CheckConstraints = (
  values: Readonly<Record<string, unknown>>,
) => readonly ValidationEntry[]

/** Compiles the types and constraints of a collection's fields, once at start. */
export function compileConstraints(fields: Fields): CheckConstraints {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, constrained(field)]),
  )
  const validate = ajv.compile({ type: 'object', properties })
  return (values) =>
    validate(values)
      ? []
      : (validate.errors ?? []).filter(isOwn).map((error) => entryOf(error, fields))
}

const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, verbose: false })

function ruleOf(
  keyword: string,
  rule: (value: Json, field: Field) => boolean,
): FuncKeywordDefinition {
  return {
    keyword,
    errors: false,
    compile: (field: Field) => (value: Json) => value === null || rule(value, field),
  }
}

/** Returns whether other keywords apply: a value of a wrong type has only one message. */
function isOfType(value: Json, field: Field): boolean {
  return fieldTypes[field.type].accepts(value, field)
}

function within(value: Json, field: Field, bound: Json | undefined, direction: 1 | -1): boolean {
  const { store, compare } = fieldTypes[field.type]
  if (bound === undefined || compare === undefined || !isOfType(value, field)) return true
  return compare(store(value, field), store(bound, field)) * direction >= 0
}

ajv.addKeyword(ruleOf('ofType', isOfType))
// The keyword `pattern` of JSON Schema would run for values that are too long.
ajv.addKeyword({
  keyword: 'ofForm',
  errors: false,
  compile: (field: Field & TextOptions) => {
    const matches = compilePattern(field)
    return (value: Json) => typeof value !== 'string' || !isOfType(value, field) || matches(value)
  },
})
ajv.addKeyword(
  ruleOf('oneOfEnumeration', (value, field) => {
    const { store } = fieldTypes[field.type]
    if (field.enumeration === undefined || !isOfType(value, field)) return true
    return field.enumeration.some((allowed) => store(allowed, field) === store(value, field))
  }),
)
ajv.addKeyword(
  ruleOf('atLeast', (value, field) => within(value, field, boundsOf(field).minimum, 1)),
)
ajv.addKeyword(
  ruleOf('atMost', (value, field) => within(value, field, boundsOf(field).maximum, -1)),
)

function boundsOf(field: Field): Bounds<Json> {
  return field as Bounds<Json>
}

function constrained(field: Field): JsonSchema {
  const { description: _description, pattern, ...schema } = fieldSchema(field)
  const { jsonType } = fieldTypes[field.type]
  const own = {
    ofType: field,
    ...(pattern !== undefined && { ofForm: field }),
    ...(field.enumeration !== undefined && { oneOfEnumeration: field }),
    ...(boundsOf(field).minimum !== undefined && { atLeast: field }),
    ...(boundsOf(field).maximum !== undefined && { atMost: field }),
  }
  // Their values have more than one JSON type, so only `ofType` checks it.
  if (jsonType === undefined || field.type === 'bigint') return own
  // Our keywords run only if the JSON type is right.
  return { ...schema, if: { type: schema['type'] }, then: own }
}

// An error of `then` causes a second one of `if`.
function isOwn(error: ErrorObject): boolean {
  return error.keyword !== 'if'
}

function entryOf(error: ErrorObject, fields: Fields): ValidationEntry {
  const name = error.instancePath.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
  const field = fields[name] as Field
  return { message: `${name} ${messageOf(error, field)}.`, severity: 'error', field: name }
}

function messageOf(error: ErrorObject, field: Field): string {
  const limit = (error.params as { readonly limit?: number }).limit
  switch (error.keyword) {
    case 'minLength':
      return `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'ofForm':
      return 'does not have the required form'
    case 'oneOfEnumeration':
      return `must be one of ${(field.enumeration ?? []).join(', ')}`
    case 'atLeast':
      return `must be at least ${String(boundsOf(field).minimum)}`
    case 'atMost':
      return `must be at most ${String(boundsOf(field).maximum)}`
    default:
      return `must be ${fieldTypes[field.type].mustBe(field)}`
  }
}
