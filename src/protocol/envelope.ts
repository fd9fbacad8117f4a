/** How grave a validation result is (section 2.2). */
export type Severity = 'error' | 'warning' | 'information'

/** One validation result (section 2.2). */
export interface ValidationEntry<FieldName extends string = string> {
  /** Identifies a warning, so that the consumer can bypass it. Only on warnings. */
  readonly validationId?: string
  readonly message: string
  readonly severity: Severity
  /** The field concerned, if it is one. */
  readonly field?: FieldName
}

/** The wire body of every response (section 2.1). */
export interface Envelope<Item = unknown> {
  /** The item of a single-item response, or the echo of a failed save. */
  readonly item?: Item
  /** The page of a collection response. */
  readonly items?: readonly Item[]
  /** The total number of items, or null when the request did not ask. Only beside `items`. */
  readonly count?: number | null
  /** Null on success. */
  readonly message: string | null
  readonly validations: readonly ValidationEntry[]
  readonly status: number
}

/** A JSON text that is ready for the wire. */
export type JsonText = string

/** The envelope of a page; `items` is the text of a JSON array. */
export function encodePage(
  items: JsonText,
  count: number | null,
  validations: readonly ValidationEntry[],
): JsonText {
  return `{"items":${items},"count":${count},${encodeTail(null, validations, 200)}`
}

/** The envelope of a single item; `item` is the text of a JSON object. */
export function encodeItem(item: JsonText, validations: readonly ValidationEntry[]): JsonText {
  return `{"item":${item},${encodeTail(null, validations, 200)}`
}

/** The envelope of a refusal, with the echo of a failed save if there is one. */
export function encodeRefusal(refusal: {
  readonly item?: JsonText
  readonly message: string
  readonly validations: readonly ValidationEntry[]
  readonly status: number
}): JsonText {
  const tail = encodeTail(refusal.message, refusal.validations, refusal.status)
  return refusal.item === undefined ? `{${tail}` : `{"item":${refusal.item},${tail}`
}

const cleanTail = '"message":null,"validations":[],"status":200}'

function encodeTail(
  message: string | null,
  validations: readonly ValidationEntry[],
  status: number,
): JsonText {
  if (message === null && validations.length === 0 && status === 200) return cleanTail
  const entries = JSON.stringify(validations.map(inContractOrder))
  return `"message":${JSON.stringify(message)},"validations":${entries},"status":${status}}`
}

function inContractOrder(entry: ValidationEntry): ValidationEntry {
  return {
    ...(entry.validationId !== undefined && { validationId: entry.validationId }),
    message: entry.message,
    severity: entry.severity,
    ...(entry.field !== undefined && { field: entry.field }),
  }
}
