/** A stored value. */
type Stored = string | number | boolean | null

/** Compares strings by code point. `<` compares UTF-16 units, which differs above U+D7FF. */
export function compareCodePoints(left: Stored, right: Stored): number {
  const [a, b] = [left as string, right as string]
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  let index = 0
  // The runtime compares whole blocks much faster than single units.
  while (index + block <= length && a.slice(index, index + block) === b.slice(index, index + block))
    index += block
  for (; index < length; index++) {
    const difference = rank(a.charCodeAt(index)) - rank(b.charCodeAt(index))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

const block = 256

// Surrogates encode code points above U+FFFF, so they come after U+E000 to U+FFFF.
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** Compares numbers. */
export function compareNumbers(left: Stored, right: Stored): number {
  return (left as number) - (right as number)
}

/** Compares strings of ASCII characters. */
export function compareAscii(left: Stored, right: Stored): number {
  return left === right ? 0 : (left as string) < (right as string) ? -1 : 1
}

/** Compares two decimal strings of equal scale, or two integers, exactly. */
export function compareDecimals(left: string, right: string): number {
  const negative = left.startsWith('-')
  if (negative !== right.startsWith('-')) return negative ? -1 : 1
  const larger = left.length - right.length || (left === right ? 0 : left < right ? -1 : 1)
  return negative ? -larger : larger
}
