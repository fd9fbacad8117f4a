import type { PublishedCollection } from '../definition/published.ts'
import {
  encodeItem,
  encodePage,
  encodeError,
  entriesIn,
  type JsonText,
  type ValidationEntry,
} from '../protocol/envelope.ts'
import { english, type MessageName } from '../messages/english.ts'
import { localText, type Language, type MessageText } from '../messages/message.ts'
import { stringifyJson } from '../protocol/json-text.ts'
import type { DataEvent } from './event.ts'
import type { ItemValues, Row } from './query.ts'
import { encodeRow, encodeRows } from './serialize.ts'

/** What the headers of a page say. */
export interface PageNotes {
  /** The cursor of the next page; undefined if there is none. */
  readonly next: string | undefined
  /** Whether the count is an estimate. */
  readonly isEstimated: boolean
}

/** The members of an item that are related items, by relation. */
export type Related = Readonly<ItemValues>

/** A page of items, as rows or as the JSON text that storage wrote. */
export interface PageOutcome {
  readonly type: 'page'
  readonly collection: PublishedCollection
  readonly select: readonly string[]
  readonly page: { readonly rows: readonly Row[] } | { readonly items: readonly JsonText[] }
  /** The related items of each row, for application code; absent if there are none, and of a page as text. */
  readonly related?: readonly Related[]
  readonly count: number | null
  readonly validations: readonly ValidationEntry[]
  /** Absent if its collection has neither cursors nor estimated counts. */
  readonly notes?: PageNotes
}

/** A single item, as a row or as the JSON text that storage wrote. */
export interface ItemOutcome {
  readonly type: 'item'
  readonly collection: PublishedCollection
  readonly select: readonly string[]
  readonly item: { readonly row: Row } | { readonly json: JsonText }
  /** As in a {@link PageOutcome}. */
  readonly related?: Related
  readonly validations: readonly ValidationEntry[]
  /** The stored row of an item that a handler may have changed; absent if none has received it. */
  readonly stored?: Row
  /** Why the operation failed although the item is kept; absent if it succeeded. */
  readonly failure?: MessageText
}

/** A save or delete that was rejected. Nothing is changed. */
export interface RejectedOutcome {
  readonly type: 'rejected'
  /** `warnings` if the client can confirm; `errors` otherwise. */
  readonly reason: 'errors' | 'warnings'
  /** In English. */
  readonly message: string
  /** The name of the message, for other languages. */
  readonly messageName: MessageName
  /** The submitted values, or the item that was not deleted. */
  readonly echo: Readonly<ItemValues> | undefined
  readonly validations: readonly ValidationEntry[]
}

/** The result of an event. */
export type Outcome = PageOutcome | ItemOutcome | RejectedOutcome

/** A status and an envelope. */
export interface EncodedOutcome {
  /** The HTTP status. */
  readonly status: number
  readonly body: JsonText
  /** Of a page, if its collection has cursors or estimated counts. */
  readonly notes?: PageNotes
}

/**
 * Encodes an outcome as an envelope. With HTTP 400, the body of a failed validation has the status 200,
 * as the contract defines, unless `bodyStatus` is `http`. Without a language, messages are in English.
 */
export function encodeOutcome(
  outcome: Outcome,
  bodyStatus: 'contract' | 'http',
  language?: Language,
): EncodedOutcome {
  const validations = entriesIn(outcome.validations, language)
  switch (outcome.type) {
    case 'page': {
      const { collection, select, page, count, notes } = outcome
      const items = 'items' in page ? page.items : encodeRows(collection, page.rows, select)
      const body = encodePage(`[${items.join()}]`, count, validations)
      return notes === undefined ? { status: 200, body } : { status: 200, body, notes }
    }
    case 'item': {
      const { collection, select, item, failure } = outcome
      const text = 'json' in item ? item.json : encodeRow(collection, item.row, select)
      if (failure === undefined) return { status: 200, body: encodeItem(text, validations) }
      const rejection = {
        item: text,
        message: localText(failure, language),
        validations,
        status: 400,
      }
      return { status: 400, body: encodeError(rejection) }
    }
    case 'rejected': {
      const { reason, echo } = outcome
      const message = rejectionText(outcome, language)
      const status = reason === 'errors' && bodyStatus === 'contract' ? 200 : 400
      const item = echo === undefined ? {} : { item: stringifyJson(echo) as JsonText }
      return { status: 400, body: encodeError({ ...item, message, validations, status }) }
    }
  }
}

/** Returns the message of a rejection in a language; in English by default. */
export function rejectionText(
  { message, messageName }: Pick<RejectedOutcome, 'message' | 'messageName'>,
  language: Language | undefined,
): string {
  return language === undefined ? message : language.texts[messageName]
}

const messageNames: Readonly<
  Record<DataEvent['type'] | 'Custom', Readonly<Record<RejectedOutcome['reason'], MessageName>>>
> = {
  Filter: { errors: 'notAccepted', warnings: 'confirmRequest' },
  Custom: { errors: 'notAccepted', warnings: 'confirmRequest' },
  Insert: { errors: 'notSaved', warnings: 'confirmSave' },
  Update: { errors: 'notSaved', warnings: 'confirmSave' },
  Delete: { errors: 'notDeleted', warnings: 'confirmDelete' },
}

/** Creates a rejected outcome. Its reason is `errors` if any entry is an error. */
export function reject(
  event: DataEvent['type'] | 'Custom',
  echo: Readonly<ItemValues> | undefined,
  validations: readonly ValidationEntry[],
): RejectedOutcome {
  const reason = validations.some((entry) => entry.severity === 'error') ? 'errors' : 'warnings'
  const messageName = messageNames[event][reason]
  const message = english[messageName]
  return { type: 'rejected', reason, message, messageName, echo, validations }
}
