/**
 * Returns whether a string has `minimum` to `maximum` characters. A character is a code point: the emoji
 * U+1F600 counts once. A long string takes no longer than one of `2 * maximum` UTF-16 units.
 */
export function hasLengthWithin(text: string, minimum: number, maximum: number): boolean {
  // A code point has one or two UTF-16 units.
  // Stryker disable next-line ConditionalExpression: counting gives the same, more slowly
  if (text.length > 2 * maximum) return false
  // Stryker disable next-line ConditionalExpression,LogicalOperator,EqualityOperator: counting gives the same, more slowly
  if (text.length <= maximum && text.length >= 2 * minimum) return true
  const length = countCodePoints(text)
  return length >= minimum && length <= maximum
}

function countCodePoints(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}
