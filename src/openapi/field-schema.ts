import type { Bounds, TextOptions } from '../definition/field.ts'
import type { FieldTypeName } from '../definition/field.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { JsonSchema } from '../definition/schema.ts'
import { hasFraction } from '../definition/value-forms.ts'
import { localText } from '../messages/message.ts'
import { stringifyJson } from '../protocol/json-text.ts'
import { maxDepth, type Json } from '../protocol/json.ts'

/** Where a value is: in the item of a response, in a request body, or in a path or query. */
export type ValuePlace = 'response' | 'body' | 'target'

/** Returns the schema of the value of a field, with null where it is allowed. */
export function fieldSchema(field: PublishedField, place: ValuePlace): JsonSchema {
  const { enumeration } = field.definition
  const typed = typeSchemas[field.type](field, place)
  if (place === 'target') {
    return { ...typed, ...(enumeration !== undefined && { enum: enumeration.map(shownBy(field)) }) }
  }
  const isNullable = !field.required && typed['type'] !== undefined
  const description = descriptionOf(field, place)
  return {
    ...typed,
    ...(isNullable && { type: [typed['type'], 'null'].flat() }),
    ...(enumeration !== undefined && {
      enum: [...enumeration.map(shownBy(field)), ...(isNullable ? [null] : [])],
    }),
    ...(place === 'response' && isSetByService(field) && { readOnly: true }),
    ...(field.label !== undefined && { title: localText(field.label) }),
    ...(description !== '' && { description }),
  }
}

/** Returns whether clients can't set a field. */
export function isSetByService(field: PublishedField): boolean {
  return field.readOnly || field.generated === 'database'
}

/** Returns a value as items have it. */
function shownBy(field: PublishedField): (value: Json) => Json {
  return (value) => field.show(field.store(value))
}

type TypeSchema = (field: PublishedField, place: ValuePlace) => JsonSchema

const typeSchemas: Readonly<Record<FieldTypeName, TypeSchema>> = {
  text: (field, place) => (place === 'target' ? { type: 'string' } : textSchema(field)),
  integer: (field, place) => ({ type: 'integer', ...boundsOf(field, place) }),
  bigint: (_field, place) => ({
    type: place === 'body' ? ['string', 'integer'] : 'string',
    pattern: '^(0|-?[1-9][0-9]{0,18})$',
  }),
  decimal: (field, place) => ({ type: 'string', pattern: decimalPattern(field, place) }),
  double: (field, place) => ({ type: 'number', ...boundsOf(field, place) }),
  boolean: () => ({ type: 'boolean' }),
  date: () => ({ type: 'string', format: 'date' }),
  // The formats of JSON Schema require a zone.
  time: () => ({ type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$' }),
  dateTime: (field) => ({ type: 'string', pattern: `^${timePattern(field)}$` }),
  instant: (field) => ({
    type: 'string',
    format: 'date-time',
    pattern: `^${timePattern(field)}Z$`,
  }),
  uuid: () => ({ type: 'string', format: 'uuid' }),
  json: () => ({}),
}

function textSchema({ definition }: PublishedField): JsonSchema {
  const { minLength, maxLength, pattern } = definition as TextOptions
  return {
    type: 'string',
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(pattern !== undefined && { pattern }),
  }
}

function boundsOf({ definition }: PublishedField, place: ValuePlace): JsonSchema {
  const { minimum, maximum } = definition as Bounds<number>
  // A condition may have any value.
  if (place === 'target') return {}
  return {
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
  }
}

function decimalPattern({ definition }: PublishedField, place: ValuePlace): string {
  const { precision, scale, minimum } = definition as Bounds<string> & {
    readonly precision: number
    readonly scale: number
  }
  const isNegative = minimum === undefined || minimum.startsWith('-') || place === 'target'
  const more = precision - scale - 1
  const whole = more < 0 ? '0' : `(0|[1-9]${more === 0 ? '' : `[0-9]{0,${more}}`})`
  const digits = place === 'body' ? `(\\.[0-9]{1,${scale}})?` : `\\.[0-9]{${scale}}`
  return `^${isNegative ? '-?' : ''}${whole}${scale === 0 ? '' : digits}$`
}

function timePattern({ definition }: PublishedField): string {
  const fraction = hasFraction(definition) ? '(\\.[0-9]{3})?' : ''
  return `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}${fraction}`
}

// Whether the description has the bounds of a type, because `minimum` and `maximum` of JSON Schema are numbers.
const describesBounds: Readonly<Record<FieldTypeName, boolean>> = {
  text: false,
  integer: false,
  bigint: true,
  decimal: true,
  double: false,
  boolean: false,
  date: true,
  time: true,
  dateTime: true,
  instant: true,
  uuid: false,
  json: false,
}

/** Returns the description of a field, with what its schema can't express. */
function descriptionOf(field: PublishedField, place: ValuePlace): string {
  const { definition, type } = field
  const { minimum, maximum } = definition as Bounds<Json>
  const isBound = describesBounds[type]
  return [
    definition.description,
    // The explorer shows the name of a property instead of its title.
    field.label !== undefined && `Label: ${localText(field.label)}.`,
    isBound && minimum !== undefined && `At least ${String(minimum)}.`,
    isBound && maximum !== undefined && `At most ${String(maximum)}.`,
    definition.unique === true && 'Unique.',
    definition.references !== undefined && `The key of an item of ${definition.references}.`,
    place === 'body' && type === 'json' && jsonBounds,
    place === 'body' && defaultOf(field),
  ]
    .filter((sentence) => typeof sentence === 'string')
    .join(' ')
}

const jsonBounds = `Any JSON of at most ${maxDepth} levels, with numbers that are finite as a double, and without U+0000 and lone surrogates.`

// Not as `default`, which generators of TypeScript take for a value that is always present.
function defaultOf(field: PublishedField): string | undefined {
  const { generated, definition } = field
  if (generated === 'now') return 'Default: the current time.'
  if (generated === 'uuid') return 'Default: a random UUID.'
  const value = definition.default
  if (value === undefined || value === null || value === 'database') return undefined
  if (typeof value === 'function') return 'Default: computed by the service.'
  return `Default: ${stringifyJson(shownBy(field)(value))}.`
}
