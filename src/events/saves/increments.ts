import type { StoredValue } from '../../definition/field-type.ts'
import { isIncrement, textOfUnits, unitsOf, type Increment } from '../../definition/increment.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { UpdateEvent } from '../../request/event.ts'
import { fieldOf } from '../../request/item-values.ts'
import type { Condition, ItemValues, Row } from '../../request/query.ts'
import { checkSubmitted, fault } from '../../request/submitted.ts'
import type { StorageAdapter } from '../../storage/adapter.ts'

type Increments = NonNullable<UpdateEvent['increments']>

/** The values of an update, and its increments. */
export interface IncrementedValues {
  readonly values: Readonly<ItemValues>
  /** Undefined if there are none. */
  readonly increments: Increments | undefined
}

/** Separates the increments from the values of an update. Throws a TypeError for a field that can't be incremented. */
export function separateIncrements(
  collection: PublishedCollection,
  given: Readonly<Record<string, unknown>>,
  call: string,
): IncrementedValues {
  const found = Object.entries(given).filter(([, value]) => isIncrement(value))
  if (found.length === 0) return { values: given as Readonly<ItemValues>, increments: undefined }
  for (const [name, value] of found) requireFit(fieldOf(collection, name), value, call)
  const others = Object.entries(given).filter(([, value]) => !isIncrement(value))
  return {
    values: Object.fromEntries(others) as ItemValues,
    increments: Object.fromEntries(found) as Increments,
  }
}

function requireFit(field: PublishedField, value: unknown, call: string): void {
  const { amount } = value as Increment
  if (scaleOf(field) === undefined)
    throw new TypeError(
      `${call}: ${field.name} has the type ${field.type}, which has no increments`,
    )
  if (field.inKey) throw new TypeError(`${call}: ${field.name} is part of the key`)
  if (unitsOf(amount, scaleOf(field) ?? 0) === undefined)
    throw new TypeError(`${call}: the amount ${amount} has more decimal places than ${field.name}`)
}

/**
 * Returns an event whose increments are values: the stored values of the item, with the amounts added. A field without a value is
 * an error.
 */
export function withIncrements(
  event: UpdateEvent,
  increments: Increments,
  stored: Row,
): UpdateEvent {
  const { collection, view, key, submitted } = event
  const fields = Object.keys(increments).map((name) => fieldOf(collection, name))
  const present = fields.filter(({ name }) => (stored[name] ?? null) !== null)
  const sums = present.map((field) => [field.name, sumOf(field, stored, increments)] as const)
  const sent = { ...submitted.sent, ...Object.fromEntries(sums) }
  const checked = checkSubmitted(view.sendable, sent, key)
  const missing = fields.filter((field) => !present.includes(field))
  const faults = missing.map((field) => fault(field, 'required'))
  return { ...event, submitted: { ...checked, faults: [...checked.faults, ...faults] } }
}

/** Returns the sum of a stored value and its increment, as a client would send it. */
function sumOf(field: PublishedField, stored: Row, increments: Increments): unknown {
  const { amount = '0' } = increments[field.name] ?? {}
  const scale = scaleOf(field) ?? 0
  const [old = 0n, added = 0n] = [
    unitsOf(String(stored[field.name]), scale),
    unitsOf(amount, scale),
  ]
  return valueOfUnits(field, old + added)
}

/**
 * Returns the conditions under which storage may add the increments of an event itself: the stored values leave room for
 * them. Undefined if an increment depends on more than that, or if storage can't add it.
 */
export function roomConditions(
  { collection, view, increments = {} }: UpdateEvent,
  adapter: StorageAdapter,
): readonly Condition[] | undefined {
  const conditions: Condition[] = []
  for (const [name, { amount }] of Object.entries(increments)) {
    const field = fieldOf(collection, name)
    const isPlain =
      view.sendable.byName.has(name) &&
      field.definition.enumeration === undefined &&
      !view.fixed.includes(field) &&
      !view.unwritable.includes(field) &&
      !collection.references.some(({ fields }) => fields.includes(field))
    if (!isPlain || adapter.increments?.(collection, field) !== true) return undefined
    const room = roomFor(field, amount)
    if (room === undefined) return undefined
    conditions.push(
      { field: name, is: 'gte', value: room.from },
      { field: name, is: 'lte', value: room.to },
    )
  }
  return conditions
}

/** The stored values to which an amount can be added. */
interface Room {
  readonly from: NonNullable<StoredValue>
  readonly to: NonNullable<StoredValue>
}

function roomFor(field: PublishedField, amount: string): Room | undefined {
  const scale = scaleOf(field) ?? 0
  const added = unitsOf(amount, scale) ?? 0n
  const { minimum, maximum } = field.definition as { minimum?: unknown; maximum?: unknown }
  const { smallest, largest } = rangeOf(field)
  const lowest = minimum === undefined ? smallest : (unitsOf(String(minimum), scale) ?? smallest)
  const highest = maximum === undefined ? largest : (unitsOf(String(maximum), scale) ?? largest)
  const from = greater(smallest, lowest - added)
  const to = -greater(-largest, added - highest)
  // An amount beyond the type is not one of its parameters.
  if (from > to || added > largest || added < smallest) return undefined
  return { from: valueOfUnits(field, from), to: valueOfUnits(field, to) }
}

function greater(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

/** Returns the smallest and the largest value of the type of a field, in units of its last decimal place. */
function rangeOf({ definition }: PublishedField): {
  readonly smallest: bigint
  readonly largest: bigint
} {
  if (definition.type === 'decimal') {
    const largest = 10n ** BigInt(definition.precision) - 1n
    return { smallest: -largest, largest }
  }
  if (definition.type === 'bigint') return { smallest: -(2n ** 63n), largest: 2n ** 63n - 1n }
  const largest = BigInt(Number.MAX_SAFE_INTEGER)
  return { smallest: -largest, largest }
}

function valueOfUnits(field: PublishedField, units: bigint): string | number {
  return field.type === 'integer' ? Number(units) : textOfUnits(units, scaleOf(field) ?? 0)
}

function scaleOf({ definition }: PublishedField): number | undefined {
  if (definition.type === 'decimal') return definition.scale
  return definition.type === 'integer' || definition.type === 'bigint' ? 0 : undefined
}
