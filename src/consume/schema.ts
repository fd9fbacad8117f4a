import { requirePlainObject, requirePlainPrototype } from '../checks/plain-object.ts'
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js'
import { isJsonNumber } from '../protocol/json-number.ts'
import { shownPath } from '../protocol/json-pointer.ts'
import { keysOf } from './json-path.ts'

/**
 * A schema by the Standard Schema specification, as zod, Valibot and ArkType implement it. It gives a
 * value its type and checks it at run time.
 */
export interface Schema<Output = unknown, Input = Output> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** The result of checking a value: the value, or issues. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** A mistake in a value. Its message may quote the value, so it is never part of an error's message. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Returns the place of the first issue, as {@link shownPath} does; empty if it has none. */
export function placeOf([issue]: readonly SchemaIssue[]): string {
  const keys = (issue?.path ?? []).map((part) => (typeof part === 'object' ? part.key : part))
  return shownPath(keys.map((key) => (typeof key === 'number' ? key : String(key))))
}

/** The type of the values that a schema returns. */
export type OutputOf<Of> = Of extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined }
}
  ? Output
  : unknown

/** The type of the values that a schema accepts. */
export type InputOf<Of> = Of extends {
  readonly '~standard': { readonly types?: { readonly input: infer Input } | undefined }
}
  ? Input
  : unknown

/** A schema that takes its type from a sample value. */
export interface SampleSchema<Value> extends Schema<Value> {
  readonly sample: Value
}

/**
 * Returns a schema with the type of a sample value. Values are not checked at run time. An empty array or null in the
 * sample has a type without members: use a complete sample.
 */
export function sample<const Value>(value: Value): SampleSchema<Widened<Value>> {
  return Object.freeze({ ...unchecked<Widened<Value>>(), sample: value as Widened<Value> })
}

/** Returns a schema of the type argument. Values are not checked at run time. */
export function typed<Value>(): Schema<Value> {
  return Object.freeze(unchecked<Value>())
}

/** The schema of a body that is not read. */
export interface IgnoredBodySchema extends Schema<null> {
  readonly ignoresBody: true
}

/**
 * Returns the schema of a response whose body is not read, and may be of any media type. The body of the
 * response is null.
 */
export function ignoredBody(): IgnoredBodySchema {
  return Object.freeze({ ...unchecked<null>(), ignoresBody: true })
}

/** A schema that is written in JSON Schema. */
export interface JsonSchemaSchema<Value> extends Schema<Value> {
  readonly jsonSchema: object | boolean
  /** The definitions that it may refer to, see {@link jsonSchemas}. */
  readonly definitions: Readonly<Record<string, object | boolean>>
}

/**
 * Returns a schema that checks values by a JSON Schema (2020-12). The type argument is the type of the
 * values. Throws a TypeError at the first check if the JSON Schema is invalid; a `$ref` can only point
 * into the schema itself, and formats are not checked. `multipleOf` allows for the rounding of doubles.
 */
export function jsonSchema<Value = unknown>(schema: object): JsonSchemaSchema<Value> {
  requirePlainPrototype('The schema', schema, 'jsonSchema')
  return jsonSchemas({})<Value>(schema)
}

/**
 * Returns a function that returns schemas as {@link jsonSchema} does, which may refer to common definitions:
 * `{ $ref: 'rowgate:definitions#/$defs/Order' }`. The definitions may refer to each other in the same way. Each is
 * compiled once, at the first check that needs it.
 */
export function jsonSchemas(
  definitions: Readonly<Record<string, object | boolean>>,
): <Value = unknown>(schema: object | boolean) => JsonSchemaSchema<Value> {
  requirePlainObject('The definitions', definitions, 'jsonSchemas')
  let compiler: Promise<Ajv2020> | undefined
  return <Value>(schema: object | boolean) => {
    let compiled: Promise<(value: unknown) => SchemaResult<Value>> | undefined
    return Object.freeze({
      jsonSchema: schema,
      definitions,
      '~standard': {
        version: 1 as const,
        vendor: 'rowgate',
        validate: async (value: unknown) => {
          compiler ??= compilerOf(definitions)
          compiled ??= compile<Value>(schema, compiler)
          return (await compiled)(value)
        },
      },
    })
  }
}

/** The literal types of a sample as the types of their values: `string` for `'DHL'`. */
export type Widened<Value> = Value extends string
  ? string
  : Value extends number
    ? number
    : Value extends boolean
      ? boolean
      : Value extends readonly (infer Element)[]
        ? Widened<Element>[]
        : Value extends object
          ? { -readonly [Name in keyof Value]: Widened<Value[Name]> }
          : Value

function unchecked<Value>(): Schema<Value> {
  return {
    '~standard': {
      version: 1,
      vendor: 'rowgate',
      validate: (value) => ({ value: value as Value }),
    },
  }
}

// Loaded on first use: most endpoints have no JSON Schema.
async function compilerOf(definitions: object): Promise<Ajv2020> {
  const { Ajv2020: Compiler } = (await import('ajv/dist/2020.js')) as { Ajv2020: typeof Ajv2020 }
  // Every object inherits `constructor` and others, which are not members of JSON.
  const options = { strict: false, validateFormats: false, logger: false, ownProperties: true }
  const compiler = new Compiler(options as ConstructorParameters<typeof Compiler>[0])
  compiler.removeKeyword('multipleOf')
  compiler.addKeyword({
    ...{ keyword: 'multipleOf', type: 'number', schemaType: 'number' },
    validate: isMultipleOf,
  })
  try {
    compiler.addSchema({ $id: 'rowgate:definitions', $defs: definitions })
  } catch (cause) {
    throw new TypeError('jsonSchemas: a definition is not a JSON Schema.', { cause })
  }
  return compiler
}

// Doubles do not hold most fractions: 19.99 / 0.01 is 1998.9999999999998.
function isMultipleOf(divisor: number, value: number): boolean {
  if (Number.isInteger(divisor) && Number.isInteger(value)) return value % divisor === 0
  const quotient = value / divisor
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * 4 * Number.EPSILON
}

async function compile<Value>(
  schema: object | boolean,
  compiler: Promise<Ajv2020>,
): Promise<(value: unknown) => SchemaResult<Value>> {
  const ajv = await compiler
  let validate: ReturnType<Ajv2020['compile']>
  try {
    validate = ajv.compile(schema)
  } catch (error) {
    throw new TypeError('jsonSchema: the JSON Schema is invalid.', { cause: error })
  }
  return (value) => {
    if (validate(withPlainNumbers(value))) return { value: value as Value }
    const issues = (validate.errors ?? []).map(issueOf)
    // Of the errors of several alternatives, the deepest one is of the alternative that fits best.
    return { issues: issues.toSorted((one, other) => other.path.length - one.path.length) }
  }
}

function issueOf({ instancePath, keyword, params }: ErrorObject) {
  const { missingProperty } = params as { readonly missingProperty?: string }
  const missing = missingProperty === undefined ? [] : [missingProperty]
  return { message: keyword, path: [...keysOf(instancePath).slice(1), ...missing] }
}

/** Returns a value in which numbers with more digits than a double are doubles, as JSON Schema knows them. */
function withPlainNumbers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (isJsonNumber(value)) return Number(value)
  if (Array.isArray(value)) {
    const list = value.map(withPlainNumbers)
    return list.every((each, index) => each === value[index]) ? value : list
  }
  const entries = Object.entries(value).map(
    ([name, each]) => [name, withPlainNumbers(each)] as const,
  )
  const members = value as Readonly<Record<string, unknown>>
  return entries.every(([name, each]) => each === members[name])
    ? value
    : Object.fromEntries(entries)
}
