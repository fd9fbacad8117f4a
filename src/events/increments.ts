import { exactSum, isIncrement, type Increment } from '../definition/increment.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { UpdateEvent } from '../request/event.ts'
import { fieldOf } from '../request/item-values.ts'
import type { ItemValues, Row } from '../request/query.ts'
import { checkSubmitted, fault } from '../request/submitted.ts'

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
  if (exactSum('0', amount, scaleOf(field) ?? 0) === undefined)
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
  const sum = exactSum(String(stored[field.name]), amount, scaleOf(field) ?? 0)
  return field.type === 'integer' ? Number(sum) : sum
}

function scaleOf({ definition }: PublishedField): number | undefined {
  if (definition.type === 'decimal') return definition.scale
  return definition.type === 'integer' || definition.type === 'bigint' ? 0 : undefined
}
