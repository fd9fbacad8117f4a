import type { PublishedCollection } from '../../definition/published.ts'
import type { DataEvent } from '../../request/event.ts'
import type { WrittenItem } from './contention.ts'
import { roomConditions } from '../saves/increments.ts'
import type { Runtime } from '../runtime.ts'

/** Returns the item that an event writes, if that is known before it runs. */
export function writtenItem(event: DataEvent): WrittenItem | undefined {
  return event.type === 'Update' || event.type === 'Delete' ? event : undefined
}

/** Returns whether the unit of an event ends with its first write that succeeds, and can't fail after it. */
export function isOneWrite(event: DataEvent, { adapter }: Runtime): boolean {
  const { collection, output } = event
  if (event.type === 'Filter' || output !== undefined) return false
  const { type } = event
  // The item is read first, and locked.
  if (event.type !== 'Insert' && event.expected !== undefined) return false
  if (event.type === 'Update' && event.increments !== undefined)
    if (roomConditions(event, adapter) === undefined) return false
  const { before, after } = collection.events[type] ?? {}
  // Application code may write other items, and a delete may write the items that refer to its item.
  if (before !== undefined || after !== undefined || collection.rulesOn[type].length > 0)
    return false
  // The value of a column default may not fit.
  if (type === 'Insert') return !collection.hasColumnDefaults
  return type === 'Update' || collection.referredBy.length === 0
}

/**
 * Returns whether the transactions of a collection may share a commit. Application code that waits would
 * block the writers that share it. A collection whose code is declared async, or has returned a promise
 * before, is written in transactions of its own.
 */
export function isBrief(collection: PublishedCollection, { waiting }: Runtime): boolean {
  const known = waiting.get(collection)
  if (known !== undefined) return !known
  // `prepare` runs before the transaction.
  const handlers = Object.values(collection.events).flatMap((event) =>
    Object.entries(event as Readonly<Record<string, object>>)
      .filter(([moment]) => moment !== 'prepare')
      .map(([, handler]) => handler),
  )
  const checks = collection.validations.map((rule) => ('check' in rule ? rule.check : rule.schema))
  const waits = [...handlers, ...checks].some((code) => code.constructor.name === 'AsyncFunction')
  waiting.set(collection, waits)
  return !waits
}
