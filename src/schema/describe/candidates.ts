import type { Field } from '../../definition/field.ts'
import type { AllowedValues } from './allowed-values.ts'
import { unfitJson } from './description.ts'

/** The fields that a column may be, and what to know of it. */
export interface Candidates {
  /** The best one first. */
  readonly fields: readonly Field[]
  /** Why clients can't write the first one, or why there is none. */
  readonly note?: string
  /** The same for a table without a key, which has no single items. */
  readonly noteInPages?: string
  /** Why it is the last one, if none of the others fits. */
  readonly lastNote?: string
  /** The only values that constraints accept, in the form of the column. Undefined: all. */
  readonly allowed?: AllowedValues | undefined
  /** Whether some of its values are null. Default: not if it is declared NOT NULL. */
  readonly hasNull?: boolean
}

/** A field that shows the text of any value. */
export const readOnlyText: Field = { type: 'text', readOnly: true }

/** Returns fields, and read-only text for values that fit none of them. */
export function exactly(...fields: readonly Field[]): Candidates {
  const lastNote = `read-only text: some values do not fit the type ${String(fields[0]?.type)}`
  return { fields: [...fields, readOnlyText], lastNote }
}

/** Returns read-only text, with the reason. */
export function onlyText(reason: string): Candidates {
  return { fields: [readOnlyText], lastNote: `read-only text: ${reason}` }
}

/** Returns json, and text for JSON that no field can have. */
export function jsonOr(text: Field): Candidates {
  return { fields: [{ type: 'json' }, text], lastNote: `${kindOf(text)}: ${unfitJson}` }
}

/** Returns read-only json of a column that changes JSON, and read-only text for JSON that no field can have. */
export function changedJson(what: string): Candidates {
  return {
    fields: [{ type: 'json', itemOnly: true, readOnly: true }, readOnlyText],
    note: `read-only, and only in single items: ${what} does not keep the order and the form of JSON. To accept this, replace itemOnly and readOnly with storedAs: 'jsonb'`,
    noteInPages: `read-only: ${what} does not keep the order and the form of JSON. To accept this, replace readOnly with storedAs: 'jsonb'`,
    lastNote: `${kindOf(readOnlyText)}: ${unfitJson}`,
  }
}

function kindOf({ readOnly }: Field): string {
  return readOnly === true ? 'read-only text' : 'text'
}

/** Returns a read-only field of a column that would round values. */
export function rounded(declared: string, field: Field): Candidates {
  return { ...exactly(field), note: roundingNote(declared) }
}

/** Returns why a field is read-only whose column would round values. */
export function roundingNote(declared: string): string {
  return `read-only: ${declared} would round values`
}

/** Returns a decimal, or read-only text if none has the digits of the column. */
export function decimalOf(precision: number, scale: number, declared: string): Candidates {
  const fits = precision <= 38 && scale >= 0 && scale <= precision
  if (fits) return exactly({ type: 'decimal', precision, scale })
  return onlyText(`a decimal can't have the digits of ${declared}`)
}

/** Returns a time by the digits after its seconds; undefined: up to six. */
export function timeOf(type: 'dateTime' | 'instant', digits: number | undefined): Candidates {
  if (digits === 3) return exactly({ type })
  if (digits === 0) return exactly({ type, storedAs: 'seconds' })
  if (digits === undefined || digits > 3) return exactly({ type, storedAs: 'microseconds' })
  const note = 'read-only: its values have less than three digits after the seconds'
  return { ...exactly({ type, readOnly: true }), note }
}
