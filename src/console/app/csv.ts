import { isNumeric, shown } from './values.ts'
import type { Field } from './collections.ts'
import type { Item } from './api.ts'

/** Returns a line of CSV with its end. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`
}

/** Returns the name of a column as a cell. */
export function csvName(field: Field): string {
  return quoted(harmless(field.name))
}

/** Returns the value of a field as a cell. */
export function csvCell(field: Field, item: Item): string {
  const value = item[field.name]
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return quoted(isNumeric(field) ? value : harmless(value))
  if (typeof value === 'boolean' || typeof value === 'number') return String(value)
  return quoted(
    harmless(typeof value === 'object' ? JSON.stringify(value) : (shown(field, value) ?? '')),
  )
}

// A spreadsheet would take the text for a formula.
function harmless(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

function quoted(text: string): string {
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
