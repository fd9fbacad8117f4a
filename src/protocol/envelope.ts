import { messageIn, textOf, withMessage, type Language, type Message } from '../messages/message.ts'

/** One validation result. */
export interface ValidationEntry<FieldName extends string = string> {
  /** The id with which the client can confirm a warning. Only warnings have one. */
  readonly validationId?: string
  readonly message: string
  /** Only errors and unconfirmed warnings reject a save. */
  readonly severity: 'error' | 'warning' | 'information'
  /** The field, if the result is about a single field. */
  readonly field?: FieldName
}

/** The body of every response. */
export interface Envelope<Item = unknown> {
  /** The item of a single-item response, or the values of a rejected save. */
  readonly item?: Item
  /** The page of a collection response. */
  readonly items?: readonly Item[]
  /** The number of all items that match, or null unless requested with `$count=true`. Only with `items`. */
  readonly count?: number | null
  /** Why the request was rejected; null on success. */
  readonly message: string | null
  readonly validations: readonly ValidationEntry[]
  readonly status: number
}

/** Returns a validation result with the English text of a message, which it remembers for other languages. */
export function entryOf(
  message: Message,
  field?: string,
  severity: ValidationEntry['severity'] = 'error',
): ValidationEntry {
  const entry = { message: textOf(message), severity, ...(field !== undefined && { field }) }
  return withMessage(entry, message)
}

/** Returns validation results with messages in a language. */
export function entriesIn<Entry extends ValidationEntry>(
  entries: readonly Entry[],
  language: Language | undefined,
): readonly Entry[] {
  if (language === undefined || entries.length === 0) return entries
  return entries.map((entry) => ({ ...entry, message: messageIn(entry, language) }))
}

/** A string of JSON, sent unchanged. */
export type JsonText = string

/** Returns the envelope of a page; `items` is a JSON array. */
export function encodePage(
  items: JsonText,
  count: number | null,
  validations: readonly ValidationEntry[],
): JsonText {
  return `{"items":${items},"count":${count},${encodeCleanTail(validations)}`
}

/** Returns the envelope of a single item; `item` is a JSON object. */
export function encodeItem(item: JsonText, validations: readonly ValidationEntry[]): JsonText {
  return `{"item":${item},${encodeCleanTail(validations)}`
}

/** Returns the envelope of an error; `item` has the values of a rejected save. */
export function encodeError(error: {
  readonly item?: JsonText
  readonly message: string
  readonly validations: readonly ValidationEntry[]
  readonly status: number
}): JsonText {
  const tail = encodeTail(error.message, error.validations, error.status)
  return error.item === undefined ? `{${tail}` : `{"item":${error.item},${tail}`
}

function encodeCleanTail(validations: readonly ValidationEntry[]): JsonText {
  // Stryker disable next-line ConditionalExpression: encoding gives the same, more slowly
  return validations.length === 0 ? cleanTail : encodeTail(null, validations, 200)
}

const cleanTail = '"message":null,"validations":[],"status":200}'

function encodeTail(
  message: string | null,
  validations: readonly ValidationEntry[],
  status: number,
): JsonText {
  const entries = JSON.stringify(validations.map(inContractOrder))
  return `"message":${JSON.stringify(message)},"validations":${entries},"status":${status}}`
}

// JSON leaves undefined members out.
function inContractOrder({ validationId, message, severity, field }: ValidationEntry): object {
  return { validationId, message, severity, field }
}
