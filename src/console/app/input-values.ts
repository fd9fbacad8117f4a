import { parseExactly } from './exact-json.ts'
import type { Field } from './collections.ts'

/** The value of an input, or why it has none. */
export type InputValue = { readonly value: unknown } | { readonly problem: string }

/**
 * Returns the value that the text of an input stands for. Numbers that JavaScript does not have are sent as they were
 * entered: the service responds what is wrong with them. Dates and times are never converted.
 */
export function valueOf(field: Field, text: string): InputValue {
  const { facts, isNullable, enumeration } = field
  if (text === '') return { value: isNullable || facts.type !== 'text' ? null : '' }
  switch (facts.type) {
    case 'integer':
    case 'double':
      return { value: numberOf(text) }
    case 'boolean':
      return { value: text === 'true' }
    case 'json':
      return jsonOf(text)
    case 'dateTime':
      return { value: withSeconds(text) }
    case 'instant':
      return { value: `${withSeconds(text)}Z` }
    case 'time':
      return { value: text.length === 5 ? `${text}:00` : text }
    default:
      return { value: enumeration?.find((one) => String(one) === text) ?? text }
  }
}

function numberOf(text: string): unknown {
  const number = Number(text.trim())
  return Number.isFinite(number) ? number : text
}

function jsonOf(text: string): InputValue {
  try {
    return { value: parseExactly(text) }
  } catch {
    return { problem: 'This is not valid JSON. Strings need double quotes.' }
  }
}

// Browsers leave out seconds that are zero.
function withSeconds(text: string): string {
  return /T\d\d:\d\d$/.test(text) ? `${text}:00` : text
}
