import type { SaveManyResult, SaveResult } from '../../definition/handler.ts'
import type { CollectionShape, Item, Key } from '../../definition/item.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { localText, type Language } from '../../messages/message.ts'
import { entriesIn } from '../../protocol/envelope.ts'
import { reject, rejectionText, type Outcome, type RejectedOutcome } from '../../request/outcome.ts'
import { itemOf, keyValue } from '../../request/serialize.ts'
import type { ManyOutcome, ManySaves } from './many.ts'

/** Returns the outcome of a save or delete for application code. */
export function saveResult(
  outcome: Outcome,
  language: Language | undefined,
): SaveResult<Item<CollectionShape>> {
  if (outcome.type === 'rejected') return rejectedResult(outcome, language)
  const { failure } = itemOutcome(outcome)
  const validations = entriesIn(outcome.validations, language)
  return {
    rejected: false,
    item: savedItem(outcome),
    validations,
    ...(failure !== undefined && { failure: localText(failure, language) }),
  }
}

/** Returns a rejection for application code. */
export function rejectedResult(
  outcome: RejectedOutcome,
  language: Language | undefined,
): Extract<SaveResult<Item<CollectionShape>>, { readonly rejected: true }> {
  const validations = entriesIn(outcome.validations, language)
  return { rejected: true, message: rejectionText(outcome, language), validations }
}

/** Returns the outcome of several saves for application code. */
export function manyResult(
  { collection, type }: Pick<ManySaves, 'collection' | 'type'>,
  { rejected, saves }: ManyOutcome,
  language: Language | undefined,
): SaveManyResult<CollectionShape> {
  const validations = saves.flatMap(({ index, event, outcome }) => {
    const key = event.type === 'Insert' ? null : (keyValue(collection, event.key) as Key<Any>)
    return entriesIn(outcome.validations, language).map((entry) => ({ index, key, ...entry }))
  })
  if (rejected) {
    const message = rejectionText(reject(type, undefined, validations), language)
    return { rejected, message, validations }
  }
  const items = saves.map(({ outcome }) => savedItem(outcome))
  const failures = saves.flatMap(({ index, outcome }) => {
    const { failure } = itemOutcome(outcome)
    return failure === undefined ? [] : [{ index, message: localText(failure, language) }]
  })
  return { rejected, items, validations, ...(failures.length > 0 && { failures }) }
}

type Any = CollectionShape

function savedItem(outcome: Outcome): Item<CollectionShape> {
  const { collection, item, select, related } = itemOutcome(outcome)
  if (!('row' in item)) throw unexpected(outcome)
  return Object.assign(itemOf(collection, item.row, select), related)
}

function itemOutcome(outcome: Outcome): Extract<Outcome, { readonly type: 'item' }> {
  if (outcome.type === 'item') return outcome
  throw unexpected(outcome)
}

/** Returns the error for an outcome that a call does not expect, such as a rejected Filter. */
export function unexpected(outcome: Outcome): Error {
  return new Error(
    outcome.type === 'rejected' ? outcome.message : `unexpected outcome ${outcome.type}`,
  )
}

/** Throws a TypeError if the saves of a collection can't be part of one transaction. */
export function requireTogether(
  name: string,
  { application, name: collection, serve }: PublishedCollection,
): void {
  if (serve === undefined) return
  throw new TypeError(
    `${name} of ${application}/${collection}: functions serve the collection, so its saves can't be part of one transaction; save one item at a time`,
  )
}
