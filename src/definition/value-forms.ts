import type { Field } from './field.ts'

const dayForm = /^(\d{4})-(\d{2})-(\d{2})$/
const timeForm = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{3})?$/
const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Returns whether a string is `YYYY-MM-DD` and a valid day of the years 1 to 9999. */
export function isDay(text: string): boolean {
  const match = dayForm.exec(text)
  if (match === null) return false
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const leapDay = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 1 : 0
  return year > 0 && day > 0 && day <= (monthDays[month - 1] ?? 0) + leapDay
}

/** Returns whether a string is `hh:mm:ss` and a time of a day. */
export function isTime(text: string): boolean {
  return text.length === 'hh:mm:ss'.length && timeForm.test(text)
}

/** Returns whether a string is `YYYY-MM-DDThh:mm:ss[.fff]` without zone, with a valid day and time. */
export function isDateTime(text: string): boolean {
  return text[10] === 'T' && isDay(text.slice(0, 10)) && timeForm.test(text.slice(11))
}

/** Returns whether a string is a date-time with the zone `Z`. */
export function isInstant(text: string): boolean {
  return text.endsWith('Z') && isDateTime(text.slice(0, -1))
}

/** Returns whether the column of a date-time or instant can hold fractions of a second. */
export function hasFraction(field: Field): boolean {
  const { storedAs } = field as { readonly storedAs?: string }
  return !wholeSeconds.includes(storedAs ?? '')
}

const wholeSeconds = ['unixSeconds', 'YYYY-MM-DDThh:mm:ssZ', 'seconds']

/** Returns whether the column of a date-time or instant can hold the fraction of a value. */
export function hasStorableFraction(text: string, field: Field): boolean {
  return hasFraction(field) || !withoutZeroFraction(text).includes('.')
}

/** Returns whether the fraction of a date-time or instant is canonical, so not zero, and the column can hold it. */
export function hasCanonicalFraction(text: string, field: Field): boolean {
  return hasStorableFraction(text, field) && withoutZeroFraction(text) === text
}

/** Returns the canonical form of a date-time or instant, without a fraction of zero. */
export function withoutZeroFraction(text: string): string {
  return text.replace('.000', '')
}

/**
 * Returns the regular expression of a decimal field. `exact`: all digits of the scale, as in responses and
 * queries. `shorter`: trailing digits of the fraction may be absent, as in bodies.
 */
export function decimalForm(field: Field, fraction: 'exact' | 'shorter'): RegExp {
  const { precision, scale } = field as Field & { type: 'decimal' }
  const form = `${precision}.${scale}.${fraction}`
  const known = forms.get(form)
  if (known !== undefined) return known
  const whole = precision > scale ? `(0|[1-9][0-9]{0,${precision - scale - 1}})` : '0'
  const digits = fraction === 'exact' ? `\\.[0-9]{${scale}}` : `(\\.[0-9]{1,${scale}})?`
  // The canonical form of zero has no sign.
  const sign = fraction === 'exact' ? '(?!-0(\\.0*)?$)-?' : '-?'
  const made = new RegExp(`^${sign}${whole}${scale === 0 ? '' : digits}$`)
  forms.set(form, made)
  return made
}

// Bounded: one entry for each precision and scale of the definitions.
const forms = new Map<string, RegExp>()

/** Returns an accepted decimal with the fixed scale of its field. */
export function padDecimal(text: string, field: Field): string {
  const { scale } = field as Field & { type: 'decimal' }
  const [whole = '0', fraction = ''] = text.split('.')
  const padded = scale === 0 ? whole : `${whole}.${fraction.padEnd(scale, '0')}`
  return /^-[0.]*$/.test(padded) ? padded.slice(1) : padded
}
