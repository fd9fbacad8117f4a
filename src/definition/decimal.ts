import type { Field } from './field.ts'

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

/** Compares two decimal strings of equal scale, or two whole numbers, exactly. */
export function compareDecimals(left: string, right: string): number {
  const negative = left.startsWith('-')
  if (negative !== right.startsWith('-')) return negative ? -1 : 1
  const larger = left.length - right.length || (left === right ? 0 : left < right ? -1 : 1)
  return negative ? -larger : larger
}
