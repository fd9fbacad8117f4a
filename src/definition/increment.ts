import { describe } from '../checks/plain-object.ts'

const brand = Symbol.for('rowgate.Increment')

/** A change of a number by an amount, see {@link increment}. */
export interface Increment {
  /** The amount: digits with an optional sign and fraction, such as `-1` or `0.25`. */
  readonly amount: string
}

/**
 * Returns what adds an amount to the stored value of a field in `update` or `updateMany` in process, without a read before
 * it: `update(key, { stock: increment(5) })`. The item is locked, so no change by others is lost. The field has the type
 * integer, bigint or decimal, and a value: without one, the save is rejected. Default of the amount: 1.
 *
 * Throws a TypeError for anything but a safe integer, a bigint, or a string such as `0.25`.
 */
export function increment(amount: number | bigint | string = 1): Increment {
  return incrementBy('increment', amount, (text) => text)
}

/** Like {@link increment}, but subtracts the amount. */
export function decrement(amount: number | bigint | string = 1): Increment {
  return incrementBy('decrement', amount, (text) =>
    text.startsWith('-') ? text.slice(1) : `-${text}`,
  )
}

/** Returns whether a value is an {@link Increment}, also of another copy of the package. */
export function isIncrement(value: unknown): value is Increment {
  return typeof value === 'object' && value !== null && brand in value
}

const amountForm = /^-?\d{1,60}(\.\d{1,60})?$/

function incrementBy(name: string, amount: unknown, change: (text: string) => string): Increment {
  const isWhole = typeof amount === 'bigint' || Number.isSafeInteger(amount)
  const text = isWhole || typeof amount === 'string' ? String(amount) : ''
  if (!amountForm.test(text)) {
    throw new TypeError(
      `${name}: the amount must be a safe integer, a bigint or a string such as '0.25', not ${describe(amount)}`,
    )
  }
  return Object.freeze(Object.defineProperty({ amount: change(text) }, brand, { value: true }))
}

/** Returns a decimal number as a number of units of its last decimal place; undefined if it has more places than `scale`. */
export function unitsOf(text: string, scale: number): bigint | undefined {
  const [whole = '', fraction = ''] = text.split('.')
  const significant = fraction.replace(/0+$/, '')
  if (significant.length > scale) return undefined
  const sign = whole.startsWith('-') ? -1n : 1n
  return sign * BigInt(whole.replace('-', '') + significant.padEnd(scale, '0'))
}

/** Returns units of the last decimal place as a decimal number with as many places as `scale`. */
export function textOfUnits(units: bigint, scale: number): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const sign = units < 0n ? '-' : ''
  return scale === 0 ? sign + whole : `${sign}${whole}.${digits.slice(-scale)}`
}
