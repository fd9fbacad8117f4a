import type { Field } from './collections.ts'

const maxShown = 120

// Control characters, and those that change the direction of the text around them.

const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** Returns a string in which invisible characters that could mislead are written as escapes. */
export function visible(text: string): string {
  return text.replace(
    unseen,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Returns a value as people read it; undefined for none. */
export function shown(field: Field | undefined, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  const type = field?.facts.type
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return value.length === 0 ? undefined : visible(value.join(', '))
  if (typeof value === 'object') return visible(JSON.stringify(value))
  const text = visible(String(value))
  if (type === 'dateTime') return text.replace('T', ' ')
  if (type === 'instant') return text.replace('T', ' ').replace(/Z$/, ' UTC')
  return text
}

/** Returns a value on one line of limited length, as grids show it. */
export function shortened(field: Field | undefined, value: unknown): string | undefined {
  const text = shown(field, value)
    ?.replace(/\s+/g, ' ')
    // Milliseconds make columns of times wide. The item shows them.
    .replace(/(?<=^[\d-]{10} [\d:]{8})\.\d{3}(?= UTC$|$)/, '')
  if (text === undefined || text.length <= maxShown) return text
  return `${text.slice(0, maxShown)}…`
}

/** Returns the local time of an instant, for a title; undefined for other values. */
export function localTime(field: Field | undefined, value: unknown): string | undefined {
  if (field?.facts.type !== 'instant' || typeof value !== 'string') return undefined
  const time = new Date(value)
  return Number.isNaN(time.getTime()) ? undefined : `Local time: ${time.toLocaleString()}`
}

/** Returns the name of a field that is not its label, for a title. */
export function apiName({ name, label }: Field): string | undefined {
  return name === label ? undefined : visible(name)
}

/** Returns a value as the input of its field has it. */
export function inputText({ facts: { type } }: Field, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (type === 'json') return JSON.stringify(value, null, 2)
  const text = String(value)
  return type === 'instant' ? text.replace(/Z$/, '') : text
}

/** Returns the direction of the values of a field: that of its letters, for text. */
export function directionOf({ facts: { type } }: Field): 'auto' | undefined {
  return type === 'text' ? 'auto' : undefined
}

/** Returns whether a field has numbers. */
export function isNumeric({ facts: { type } }: Field): boolean {
  return ['integer', 'bigint', 'decimal', 'double'].includes(type)
}
