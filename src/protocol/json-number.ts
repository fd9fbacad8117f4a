const brand = Symbol.for('rowgate.JsonNumber')
const form = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/**
 * A number in a JSON value that a double can't hold exactly, such as 12345678901234567890.5: it is written again with
 * all its digits. In arithmetic, it is the nearest double; `text` has the digits.
 *
 * ```ts
 * const extra = { total: new JsonNumber('12345678901234567890.50') }
 * ```
 */
export class JsonNumber extends Number {
  /** The number as JSON writes it. */
  readonly text: string

  /** Throws a TypeError unless the string is a number of JSON, and finite as a double. */
  constructor(text: string | bigint) {
    const number = String(text)
    super(number)
    if (!form.test(number) || !Number.isFinite(Number(number))) {
      throw new TypeError(
        'JsonNumber: must be a number as JSON writes it, such as 1.50 or 1e-7, and not too large for a double',
      )
    }
    this.text = number
    Object.defineProperty(this, brand, { value: true })
    Object.freeze(this)
  }

  /** Returns the digits; with another radix than 10, the digits of the nearest double. */
  override toString(radix = 10): string {
    return radix === 10 ? this.text : super.toString(radix)
  }

  /**
   * Returns what JSON.stringify writes: all digits if the runtime has `JSON.rawJSON` (Node.js 22), otherwise the
   * nearest double. `stringifyJson` always writes all digits.
   */
  toJSON(): unknown {
    return rawJson === undefined ? Number(this.text) : rawJson(this.text)
  }
}

const { rawJSON: rawJson } = JSON as { readonly rawJSON?: (text: string) => unknown }

/** Returns whether a value is a {@link JsonNumber}, also one of another copy of the package. */
export function isJsonNumber(value: unknown): value is JsonNumber {
  return typeof value === 'object' && value !== null && brand in value
}

/** Returns the value of a number of JSON: a JsonNumber if a double can't hold it exactly, Infinity if it is too large. */
export function exactNumber(text: string): number | JsonNumber {
  const number = Number(text)
  return !Number.isFinite(number) || isExact(text, number) ? number : new JsonNumber(text)
}

/** Returns a number of JSON in one form: equal for numbers that are equal, however they are written. */
export function canonicalNumber(text: string): string {
  const number = Number(text)
  return isExact(text, number) ? String(number) : significant(text)
}

function isExact(text: string, number: number): boolean {
  const size = Math.abs(number)
  // A double holds any number of 15 digits that is neither very large nor very small.
  if (text.length <= 15 && size > 1e-280 && size < 1e280) return true
  const shortest = String(number)
  return shortest === text || significant(shortest) === significant(text)
}

const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/** Returns the digits of a number without zeros at either end, and the power of ten of the last one. */
function significant(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts.exec(text) ?? []
  const digits = whole + fraction
  let [start, end] = [0, digits.length]
  while (digits.charCodeAt(start) === zero) start++
  if (start === end) return '0'
  while (digits.charCodeAt(end - 1) === zero) end--
  const shift = digits.length - end - fraction.length
  // A double can't hold the sum of a longer exponent. Such a number is smaller than all doubles.
  const power = exponent.length > 15 ? `${exponent}+${shift}` : String(Number(exponent) + shift)
  return `${sign}${digits.slice(start, end)}e${power}`
}

const zero = 0x30
