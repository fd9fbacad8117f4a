import type { StoredValue } from '../../definition/field-type.ts'
import { withoutZeroFraction } from '../../definition/value-forms.ts'

/** Returns whether a database can keep a value: a string without U+0000 and without lone surrogates. */
export function isStorable(value: StoredValue): boolean {
  return typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed())
}

/**
 * Returns the wire form of a time that a server writes as `2024-01-01 00:00:00.1`. Another form, such as that of a year
 * before Christ, is returned unchanged.
 */
export function momentOf(text: string): string {
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?$/.test(text)) return text
  const wire = `${text.slice(0, 10)}T${text.slice(11)}`
  return wire.length === 19 ? wire : withoutZeroFraction(wire.padEnd(23, '0'))
}
