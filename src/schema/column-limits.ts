import type { StoredValue } from '../definition/field-type.ts'
import type { Column } from './model.ts'

/** The bits of each integer type of a database. */
export type WholeBits = Readonly<Record<string, number>>

/** Returns whether a value is too large or too long for the type of a column. */
export function exceeds(wholeBits: WholeBits, column: Column, value: StoredValue): boolean {
  const { base, length, precision, scale = 0, declared } = column
  if (value === null || typeof value === 'boolean') return false
  if (['varchar', 'char', 'bpchar'].includes(base)) return isLonger(value, length)
  const [, sign = '', digits = '', fraction] = /^(-?)0*(\d*)(\.\d+)?$/.exec(String(value)) ?? []
  const bits = wholeBits[base]
  if (bits !== undefined && fraction === undefined) {
    const whole = BigInt(digits) * (sign === '' ? 1n : -1n)
    const kept = declared.includes('unsigned') ? BigInt.asUintN : BigInt.asIntN
    return kept(bits, whole) !== whole
  }
  const isDecimal = base === 'numeric' || base === 'decimal'
  return isDecimal && precision !== undefined && digits.length > precision - scale
}

/** Returns whether a column would cut spaces at the end of a string, which it does without an error. */
export function cutsSpaces({ base, length }: Column, value: StoredValue): boolean {
  const isPadded = typeof value === 'string' && value.endsWith(' ')
  return isPadded && base === 'varchar' && isLonger(value, length)
}

/** Returns whether a value has more code points than a column keeps. */
function isLonger(value: StoredValue, length: number | undefined): boolean {
  if (length === undefined || typeof value !== 'string' || value.length <= length) return false
  return Array.from(value).length > length
}
