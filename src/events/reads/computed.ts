import type { PublishedComputed } from '../../definition/published-computed.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import { internal } from '../../errors.ts'
import { isThenable } from '../../maybe-promise.ts'
import type { Report } from '../../observation/reports.ts'
import type { ValidationEntry } from '../../protocol/envelope.ts'
import type { Json } from '../../protocol/json.ts'
import type { DataEvent, DeleteEvent, InsertEvent, UpdateEvent } from '../../request/event.ts'
import type { Outcome } from '../../request/outcome.ts'
import type { ItemValues, Output, Row } from '../../request/query.ts'
import { itemOf } from '../../request/serialize.ts'
import { fault, isSame } from '../../request/submitted.ts'
import { readableItem } from '../../request/view.ts'

/**
 * Returns an outcome with the computed fields of its response, if it has any. An error of their functions is
 * reported, and becomes INTERNAL.
 */
export function withComputed(outcome: Outcome, event: DataEvent, report: Report): Outcome {
  const { output } = event
  if (output === undefined || outcome.type === 'rejected') return outcome
  const { select } = output
  const complete = (row: Row): Row => completeRow(row, output, event, report)
  if (outcome.type === 'page') {
    if (!('rows' in outcome.page)) return outcome
    return { ...outcome, select, page: { rows: outcome.page.rows.map(complete) } }
  }
  if (!('row' in outcome.item)) return outcome
  return { ...outcome, select, item: { row: complete(outcome.item.row) } }
}

function completeRow(row: Row, { computed }: Output, event: DataEvent, report: Report): Row {
  const complete: Record<string, StoredValue> = {}
  for (const one of computed) {
    // The stored value of a saved item does not fit.
    if (event.type !== 'Filter' && one.needs.some(({ name }) => row[name] === undefined)) {
      complete[one.name] = null
      continue
    }
    const valueOf = (need: PublishedField): Json => need.show(row[need.name] ?? null)
    complete[one.name] = computedValue(one, valueOf, event, report)
  }
  return Object.assign(complete, row)
}

/**
 * Returns a stored item as the response of its event shows it: what the caller may read, and the computed fields. Those
 * that need a value which does not fit are null.
 */
export function shownItem(
  event: DeleteEvent,
  { stored, unfit }: { readonly stored: Row; readonly unfit: readonly string[] },
  report: Report,
): Readonly<ItemValues> {
  const { collection, view, output } = event
  if (output === undefined) return readableItem(view, stored)
  const fitting = Object.entries(stored).filter(([name]) => !unfit.includes(name))
  const row = completeRow(Object.fromEntries(fitting), output, event, report)
  return itemOf(collection, row, output.select)
}

/** Returns an error for each submitted value of a computed field. The current value may be sent back. */
export function computedFaults(
  event: InsertEvent | UpdateEvent,
  stored: Row | null,
  report: Report,
): readonly ValidationEntry[] {
  const { computed: given } = event.submitted
  if (given === undefined) return []
  const isCurrent = (one: PublishedComputed, value: unknown): boolean => {
    if (stored === null) return value === null
    const shown = ({ name, show }: PublishedField): Json => show(stored[name] ?? null)
    const current = computedValue(one, shown, event, report)
    if (value === null || current === null) return value === current
    const isValid = one.field.check(value).length === 0
    return isValid && isSame(one.field, one.field.store(value as Json, given), current)
  }
  return event.view.sendable.computed
    .filter((one) => Object.hasOwn(given, one.name) && !isCurrent(one, given[one.name]))
    .map(({ field }) => fault(field, 'readOnly'))
}

/** Returns the stored form of a computed value. */
function computedValue(
  one: PublishedComputed,
  valueOf: (need: PublishedField) => Json,
  { collection, type }: DataEvent,
  report: Report,
): StoredValue {
  const { name, field, needs, compute } = one
  try {
    const values: ItemValues = {}
    for (const need of needs) values[need.name] = valueOf(need)
    const value: unknown = compute(values as never)
    if (value === null && !field.required) return null
    requireValid(one, value)
    return field.store(value as Json)
  } catch (error) {
    const place = { application: collection.application, collection: collection.name, event: type }
    report({ type: 'handler-failed', place, name: `computed.${name}`, error })
    throw internal(error)
  }
}

function requireValid({ name, field }: PublishedComputed, value: unknown): void {
  if (isThenable(value)) {
    // An unhandled rejection would end the process.
    Promise.resolve(value).catch(() => undefined)
    throw new TypeError(`The function of ${name} returned a promise; it must be synchronous.`)
  }
  if (value === undefined || value === null) {
    throw new TypeError(`The function of ${name} returned ${value}.`)
  }
  const [invalid] = field.check(value)
  if (invalid === undefined) return
  throw new TypeError(`The function of ${name} returned an invalid value: ${invalid.message}`)
}
