import type { Field } from './field.ts'

/**
 * The form of a decimal field's text. `exact`: all digits of the scale, as responses and queries
 * write it. `shorter`: a body may leave out trailing digits of the fraction.
 */
export function decimalForm(field: Field, fraction: 'exact' | 'shorter'): RegExp {
  const { precision, scale } = field as Field & { type: 'decimal' }
  const form = `${precision}.${scale}.${fraction}`
  const known = forms.get(form)
  if (known !== undefined) return known
  const whole = precision > scale ? `(0|[1-9][0-9]{0,${precision - scale - 1}})` : '0'
  const digits = fraction === 'exact' ? `\\.[0-9]{${scale}}` : `(\\.[0-9]{1,${scale}})?`
  // Zero has no sign in its one canonical form.
  const sign = fraction === 'exact' ? '(?!-0(\\.0*)?$)-?' : '-?'
  const made = new RegExp(`^${sign}${whole}${scale === 0 ? '' : digits}$`)
  forms.set(form, made)
  return made
}

// Bounded by the definition: one entry for each precision and scale in use.
const forms = new Map<string, RegExp>()

/** The text of fixed scale of an accepted decimal. */
export function padDecimal(text: string, field: Field): string {
  const { scale } = field as Field & { type: 'decimal' }
  const [whole = '0', fraction = ''] = text.split('.')
  const padded = scale === 0 ? whole : `${whole}.${fraction.padEnd(scale, '0')}`
  return /^-[0.]*$/.test(padded) ? padded.slice(1) : padded
}

/** Orders two decimal texts of equal scale, or two whole numbers, by value and exactly. */
export function compareDecimals(left: string, right: string): number {
  const negative = left.startsWith('-')
  if (negative !== right.startsWith('-')) return negative ? -1 : 1
  const larger = left.length - right.length || (left === right ? 0 : left < right ? -1 : 1)
  return negative ? -larger : larger
}
