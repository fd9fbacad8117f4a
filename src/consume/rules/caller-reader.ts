import { requirePlainObject } from '../../checks/plain-object.ts'
import { fieldTypes, isUuid } from '../../definition/field-type.ts'
import { double } from '../../definition/field.ts'
import { isJsonNumber } from '../../protocol/json-number.ts'

/** The types that a value of the caller can be converted to. */
export interface CallerTypes {
  text: string
  number: number
  /** In lower case. */
  uuid: string
  boolean: boolean
}

/**
 * Reads a field of the row that a request was sent for. Returns null if the row has no such field, or no
 * value in it.
 */
export interface CallerReader<Row = unknown> {
  /** The value of a known field. */
  <Name extends keyof Row & string>(name: Name): Exclude<Row[Name], undefined> | null
  /** The value as another type. Throws a TypeError if it can't be converted. */
  <Type extends keyof CallerTypes>(name: string, type: Type): CallerTypes[Type] | null
  /** The value of a field that the compiler does not know. */
  (name: string): unknown
}

/** The names of {@link CallerTypes}. */
export const callerTypes: readonly (keyof CallerTypes)[] = ['text', 'number', 'uuid', 'boolean']

/** Returns the caller of a row. Throws a TypeError for a row that is not a plain object. */
export function callerReader<Row extends object>(row: Row, call = 'caller'): CallerReader<Row> {
  requirePlainObject('The row', row, call)
  const read = (name: string, type?: keyof CallerTypes): unknown => {
    // `constructor` and the like are not fields of the row.
    const value = Object.hasOwn(row, name) ? (row as Record<string, unknown>)[name] : null
    if (value === null || value === undefined) return null
    return type === undefined ? value : converted(name, value, type)
  }
  return read as CallerReader<Row>
}

function converted(name: string, value: unknown, type: keyof CallerTypes): unknown {
  const result = Object.hasOwn(conversions, type) ? conversions[type](value) : undefined
  if (result !== undefined) return result
  if (!callerTypes.includes(type)) {
    throw new TypeError(`caller: the type of ${name} must be one of ${callerTypes.join(', ')}.`)
  }
  throw new TypeError(`caller: the value of ${name} cannot be converted to ${type}.`)
}

const conversions: { readonly [Type in keyof CallerTypes]: (value: unknown) => unknown } = {
  text: (value) =>
    ['string', 'number', 'boolean'].includes(typeof value) || isJsonNumber(value)
      ? String(value)
      : undefined,
  number: (value) => {
    if (typeof value === 'number' || isJsonNumber(value)) return Number(value)
    const isNumber = typeof value === 'string' && fieldTypes.double.acceptsText(value, double())
    return isNumber ? Number(value) : undefined
  },
  uuid: (value) => (typeof value === 'string' && isUuid(value) ? value.toLowerCase() : undefined),
  boolean: (value) => {
    if (typeof value === 'boolean') return value
    return value === 'true' ? true : value === 'false' ? false : undefined
  },
}
