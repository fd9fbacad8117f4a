import { english, type TypeMessageName } from '../messages/english.ts'
import { filled, type MessageValues } from '../messages/message.ts'
import { isJsonNumber } from '../protocol/json-number.ts'
import { parseJson, stringifyJson } from '../protocol/json-text.ts'
import { maxDepth, mayExceedBounds, type Json } from '../protocol/json.ts'
import {
  compareAscii,
  compareCodePoints,
  compareDecimals,
  compareNumbers,
} from './compare-values.ts'
import {
  decimalForm,
  hasFraction,
  hasCanonicalFraction,
  hasStorableFraction,
  isDateTime,
  isDay,
  isInstant,
  isTime,
  padDecimal,
  withoutZeroFraction,
} from './value-forms.ts'
import type { Field, FieldTypeName } from './field.ts'

/** The value of a field in a stored row. A json field is stored as its JSON text. */
export type StoredValue = string | number | boolean | null

/** A field type. A new type is one more entry in `fieldTypes`. */
export interface FieldType {
  /** The JSON Schema type of a value; undefined for any. */
  readonly jsonType?: 'string' | 'number' | 'boolean'
  /** Returns the message for a value that is not of the type; its placeholder `field` has no value yet. */
  readonly message: (field: Field) => TypeMessage
  /** Returns whether a JSON value of the right JSON type is valid for the field. */
  accepts(value: Json, field: Field): boolean
  /** Returns the stored form of an accepted value; equal values have equal stored forms, except for the type json. */
  store(value: Json, field: Field): StoredValue
  /** Returns the value of a stored form, as items have it. */
  readonly show: (stored: StoredValue) => Json
  /** Returns whether a string of a query or path is a canonical value of the field. */
  acceptsText(text: string, field: Field): boolean
  /** Returns the stored form of a string that `acceptsText` accepts. */
  storeText(text: string, field: Field): StoredValue
  /** Returns whether a value that storage returned, other than null, is a stored form of the field. */
  isStored(value: unknown, field: Field): boolean
  /** Compares two stored values other than null. Absent for types that can't be sorted. */
  readonly compare?: (left: StoredValue, right: StoredValue) => number
  /** Whether equality conditions and keys may name the field. */
  readonly filterable: boolean
  /** Whether `$q` searches the field by default. */
  readonly searchable: boolean
}

const integerForm = /^(0|-?[1-9][0-9]*)$/
const doubleForm = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const largest = 2n ** 63n - 1n

const asText: Pick<
  FieldType,
  'jsonType' | 'store' | 'show' | 'storeText' | 'isStored' | 'filterable' | 'searchable'
> = {
  jsonType: 'string',
  isStored(this: FieldType, value, field) {
    return typeof value === 'string' && this.acceptsText(value, field)
  },
  store: (value) => value as string,
  show: unchanged,
  storeText: (text) => text,
  filterable: true,
  searchable: true,
}

/** Returns whether a string is a UUID, in either case. */
export function isUuid(text: string): boolean {
  return uuidForm.test(text)
}

/** Returns whether any value is valid for a field: of its JSON type, and accepted by its type. */
export function isValueOf(field: Field, value: unknown): boolean {
  const { jsonType, accepts } = fieldTypes[field.type]
  const isOfType = jsonType === undefined || typeof value === jsonType
  const isLoose = field.type === 'bigint' && typeof value === 'number'
  return (isOfType || isLoose) && accepts(value as Json, field)
}

/** The field types by name. */
export const fieldTypes: Readonly<Record<FieldTypeName, FieldType>> = {
  text: {
    ...asText,
    message: (field) => typeMessage(isPadded(field) ? 'paddedText' : 'text', {}),
    accepts: (value, field) =>
      isText(value as string) && !(isPadded(field) && (value as string).endsWith(' ')),
    acceptsText: isText,
    compare: compareCodePoints,
  },
  integer: {
    ...asText,
    jsonType: 'number',
    message: () => typeMessage('integer', {}),
    accepts: (value) => Number.isSafeInteger(value),
    isStored: (value) => Number.isSafeInteger(value),
    store: (value) => (value as number) + 0,
    acceptsText: (text) => integerForm.test(text) && Number.isSafeInteger(Number(text)),
    storeText: Number,
    compare: compareNumbers,
  },
  bigint: {
    ...asText,
    // A safe integer number is accepted as well: the JSON type is checked in `accepts`.
    message: () => typeMessage('bigint', {}),
    accepts: (value) =>
      Number.isSafeInteger(value) || (typeof value === 'string' && isBigint(value)),
    store: (value) => String(value),
    acceptsText: isBigint,
    compare: (left, right) => compareDecimals(left as string, right as string),
  },
  decimal: {
    ...asText,
    message: (field) => {
      const { precision, scale } = field as Field & { type: 'decimal' }
      return typeMessage('decimal', { before: precision - scale, after: scale })
    },
    accepts: (value, field) => decimalForm(field, 'shorter').test(value as string),
    store: (value, field) => padDecimal(value as string, field),
    acceptsText: (text, field) => decimalForm(field, 'exact').test(text),
    storeText: (text, field) => padDecimal(text, field),
    compare: (left, right) => compareDecimals(left as string, right as string),
  },
  double: {
    jsonType: 'number',
    message: () => typeMessage('double', {}),
    accepts: (value) => Number.isFinite(value),
    isStored: (value) => Number.isFinite(value),
    store: (value) => (value as number) + 0,
    show: unchanged,
    acceptsText: (text) => doubleForm.test(text) && Number.isFinite(Number(text)),
    storeText: (text) => Number(text) + 0,
    compare: compareNumbers,
    filterable: true,
    searchable: false,
  },
  boolean: {
    jsonType: 'boolean',
    message: () => typeMessage('boolean', {}),
    accepts: () => true,
    isStored: (value) => typeof value === 'boolean',
    store: (value) => value as boolean,
    show: unchanged,
    acceptsText: (text) => text === 'true' || text === 'false',
    storeText: (text) => text === 'true',
    compare: (left, right) => Number(left) - Number(right),
    filterable: true,
    searchable: false,
  },
  date: {
    ...asText,
    message: () => typeMessage('date', {}),
    accepts: (value) => isDay(value as string),
    acceptsText: isDay,
    compare: compareAscii,
  },
  time: {
    ...asText,
    message: () => typeMessage('time', {}),
    accepts: (value) => isTime(value as string),
    acceptsText: isTime,
    compare: compareAscii,
  },
  dateTime: {
    ...asText,
    message: (field) => typeMessage('dateTime', { form: timeForm(field) }),
    accepts: (value, field) =>
      isDateTime(value as string) && hasStorableFraction(value as string, field),
    store: (value) => withoutZeroFraction(value as string),
    acceptsText: (text, field) => isDateTime(text) && hasCanonicalFraction(text, field),
    compare: compareAscii,
  },
  instant: {
    ...asText,
    message: (field) => typeMessage('instant', { form: `${timeForm(field)}Z` }),
    accepts: (value, field) =>
      isInstant(value as string) && hasStorableFraction(value as string, field),
    store: (value) => withoutZeroFraction(value as string),
    acceptsText: (text, field) => isInstant(text) && hasCanonicalFraction(text, field),
    compare: (left, right) =>
      compareAscii((left as string).slice(0, -1), (right as string).slice(0, -1)),
  },
  uuid: {
    ...asText,
    message: () => typeMessage('uuid', {}),
    accepts: (value) => uuidForm.test(value as string),
    isStored: (value) =>
      typeof value === 'string' && uuidForm.test(value) && value === value.toLowerCase(),
    store: (value) => (value as string).toLowerCase(),
    acceptsText: (text) => uuidForm.test(text),
    storeText: (text) => text.toLowerCase(),
    compare: compareAscii,
  },
  json: {
    message: () => typeMessage('json', { levels: maxDepth }),
    accepts: (value) => isJsonValue(value, 1),
    isStored: (value) => typeof value === 'string' && isJsonText(value),
    store: (value) => (value === null ? null : (stringifyJson(value) as string)),
    show: (stored) => (typeof stored === 'string' ? parseJson(stored) : stored),
    acceptsText: () => false,
    storeText: (text) => text,
    filterable: false,
    searchable: false,
  },
}

/** Returns what a value of a field must be: the end of a message that begins with "must be". */
export function mustBe(field: Field): string {
  const { text, values } = fieldTypes[field.type].message(field)
  return filled(english[text].slice(messageStart.length, -1), values)
}

const messageStart = '{field} must be '

/** A message about the type of a field, without the field. */
interface TypeMessage {
  readonly text: TypeMessageName
  readonly values: Readonly<Record<string, string | number>>
}

function typeMessage<Name extends TypeMessageName>(
  text: Name,
  values: Omit<MessageValues<Name>, 'field'> & TypeMessage['values'],
): TypeMessage {
  return { text, values }
}

function timeForm(field: Field): string {
  return `YYYY-MM-DDThh:mm:ss${hasFraction(field) ? '[.fff]' : ''}`
}

function unchanged(stored: StoredValue): Json {
  return stored
}

function isPadded(field: Field): boolean {
  return (field as { readonly storedAs?: string }).storedAs === 'char'
}

function isText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function isBigint(text: string): boolean {
  if (text.length > 20 || !integerForm.test(text)) return false
  const value = BigInt(text)
  return value <= largest && value >= -largest - 1n
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
    return isWithinBounds(text)
  } catch {
    return false
  }
}

/**
 * Returns whether JSON text that a database has found valid has only what json fields may have.
 *
 * @param outer the levels of arrays and objects around the values, such as 1 for the text of an item
 */
export function isWithinBounds(text: string, outer = 0): boolean {
  // Most strings need not be parsed for this.
  if (!mayExceedBounds(text, maxDepth + outer)) return true
  try {
    return isJsonValue(JSON.parse(text), 1 - outer)
  } catch {
    return false
  }
}

function isJsonValue(value: unknown, depth: number): boolean {
  if (value === null || typeof value === 'boolean') return true
  if (typeof value === 'string') return isText(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (isJsonNumber(value)) return true
  if (typeof value !== 'object' || depth > maxDepth) return false
  if (Array.isArray(value)) return value.every((inner) => isJsonValue(inner, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  return Object.entries(value).every(
    ([name, inner]) => isText(name) && isJsonValue(inner, depth + 1),
  )
}
