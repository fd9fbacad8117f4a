import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { messageOf } from '../messages/message.ts'
import { entryOf, type ValidationEntry } from '../protocol/envelope.ts'
import { encodedLength, unaddressable } from '../protocol/key.ts'
import type { Row } from './query.ts'
import { fault } from './submitted.ts'

const none: readonly ValidationEntry[] = []

/**
 * Returns the errors of a key with which no request could reach its item. A part that storage generates counts as
 * the longest number.
 */
export function keyFaults(
  { key, maxKeyLength }: PublishedCollection,
  values: Row,
): readonly ValidationEntry[] {
  if (maxKeyLength === Infinity) return none
  const parts = key.map(({ name }) => values[name] ?? widestNumber)
  let faults: ValidationEntry[] | undefined
  key.forEach((field, index) => {
    const reason = unaddressable(String(parts[index]), key.length)
    if (reason !== undefined) (faults ??= []).push(fault(field, reason))
  })
  if (faults !== undefined) return faults
  if (encodedLength(parts, maxKeyLength) <= maxKeyLength) return none
  return key.map((field) =>
    entryOf(messageOf('keyTooLong', { field, maximum: maxKeyLength }), field.name),
  )
}

const widestNumber = String(-(2n ** 63n))

/** Returns whether a request could reach an item by the values of its key. */
export function hasPath(
  { key: { length }, maxKeyLength }: PublishedCollection,
  parts: readonly StoredValue[],
): boolean {
  if (maxKeyLength === Infinity) return true
  if (parts.some((part) => unaddressable(String(part), length) !== undefined)) return false
  return encodedLength(parts, maxKeyLength) <= maxKeyLength
}
