import { whenDone, type MaybePromise } from '../maybe-promise.ts'
import type { JsonText } from '../protocol/envelope.ts'
import { digestOf } from './digest.ts'
import type { DataEvent } from './event.ts'
import type { EncodedOutcome, ItemOutcome, Outcome } from './outcome.ts'
import { encodeRow } from './serialize.ts'
import type { View } from './view.ts'

/**
 * Returns a digest of the state of a stored item: of the fields that the caller can read, or of the field that stands for
 * its version. It is the same on every storage, in every process, and for a row and its JSON text.
 */
export function stateOf(view: View, item: ItemOutcome['item']): MaybePromise<string> {
  const { collection, readable } = view
  const version = collection.concurrency?.version
  // A caller who only writes may not be able to read it.
  if (version === undefined || !readable.byName.has(version.name)) {
    return digestOf('json' in item ? item.json : encodeRow(collection, item.row, readable.allNames))
  }
  const { name, show } = version
  const value = 'json' in item ? memberOf(item.json, name) : show(item.row[name] ?? null)
  // The readable fields depend on the caller's roles and the definition. Both may change.
  return digestOf(JSON.stringify([readable.allNames, value]))
}

function memberOf(json: JsonText, name: string): unknown {
  return (JSON.parse(json) as Readonly<Record<string, unknown>>)[name]
}

/**
 * Returns the entity tag of a response; undefined if it has none. That of an item begins with its state. If code has
 * contributed to the response, a digest of the whole body follows, so that equal tags mean equal responses.
 */
export function entityTagOf(
  event: DataEvent,
  outcome: Outcome,
  { body, notes }: EncodedOutcome,
): MaybePromise<string | undefined> {
  const { collection, type, view, output } = event
  if (collection.concurrency === undefined || outcome.type === 'rejected' || type === 'Delete')
    return undefined
  if (outcome.type === 'page') {
    const whole = notes === undefined ? body : body + JSON.stringify(notes)
    return whenDone(digestOf(whole), quoted)
  }
  const item = outcome.stored === undefined ? outcome.item : { row: outcome.stored }
  const isStateOnly = type !== 'Filter' || (output === undefined && collection.filtersDirectly)
  return whenDone(stateOf(view, item), (state) =>
    isStateOnly ? quoted(state) : whenDone(digestOf(body), (rest) => quoted(`${state}.${rest}`)),
  )
}

function quoted(text: string): string {
  return `"${text}"`
}

/** Returns the state of an item that the text of an entity tag contains. */
export function stateIn(tag: string): string {
  const [state = tag] = tag.split('.', 1)
  return state
}
