import type { BeforeInsert, BeforeUpdate } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import { system } from '../definition/principal.ts'
import type { PublishedCollection, PublishedField } from '../definition/published.ts'
import { forbidden, notFound } from '../errors.ts'
import { acceptedItem } from '../request/accepted.ts'
import { completeItem } from '../request/defaults.ts'
import type { InsertEvent, UpdateEvent } from '../request/event.ts'
import type { ItemValues, Row } from '../request/query.ts'
import { decide, type Decision } from '../request/findings.ts'
import { reject, type Outcome, type RejectedOutcome } from '../request/outcome.ts'
import { isAmong, rowValues } from '../request/rows.ts'
import {
  fault,
  inDefinitionOrder,
  keyFaults,
  requiredFaults,
  stored,
} from '../request/submitted.ts'
import { entriesFor } from '../request/view.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import { checkRules, rulesOn } from './rules.ts'
import type { Terms } from './runtime.ts'
import type { Scope } from './scope.ts'
import { finishWrite, readItem, storeOrFault } from './write.ts'

/** A save between its request and its write. */
export interface Save {
  readonly event: InsertEvent | UpdateEvent
  readonly scope: Scope
  /** The item as it is stored; null for an Insert. */
  readonly stored: Readonly<ItemValues> | null
  /** The fields whose stored values do not fit; {@link Save.stored} has null for them. */
  readonly unfit: readonly string[]
  /** The item that will be stored. Handlers may change it. */
  readonly draft: ItemValues
  /** The errors of the request itself. */
  readonly faults: readonly ValidationEntry[]
}

/** Runs an Insert: defaults, `before`, validations, the insert in storage, `after`. */
export async function insertItem(event: InsertEvent, scope: Scope): Promise<Outcome> {
  const save = await openInsert(event, scope)
  const rejected = rejectInvalid(save) ?? (await examine(save, ['before', 'validations']))
  if (rejected !== undefined) return rejected
  const { collection } = event
  const row = rowOf(
    collection,
    save.draft,
    (field, value) => value !== null || field.generated !== 'database',
  )
  return write(save, () => scope.terms.running.transaction.insert(collection, row))
}

/** Runs an Update: the stored item with the submitted values, `before`, validations, the update in storage, `after`. */
export async function updateItem(event: UpdateEvent, scope: Scope): Promise<Outcome> {
  const save = await openUpdate(event, scope)
  const rejected = rejectInvalid(save) ?? (await examine(save, ['before', 'validations']))
  if (rejected !== undefined) return rejected
  const { collection, conditions } = event
  const before = save.stored ?? {}
  // A null that replaces a stored value of a wrong type is a change.
  const replaced = save.unfit.length === 0 ? {} : writable(event, scope.terms)
  const isReplaced = ({ name }: PublishedField) => save.unfit.includes(name) && name in replaced
  const changes = rowOf(
    collection,
    save.draft,
    (field, value) => value !== stored(field, before[field.name]) || isReplaced(field),
  )
  return write(save, async () => {
    const row = await scope.terms.running.transaction.update(collection, conditions, changes)
    if (row === undefined) throw notFound()
    return row
  })
}

/** Prepares an Insert: the submitted values, completed with defaults. */
export async function openInsert(event: InsertEvent, scope: Scope): Promise<Save> {
  const { collection } = event
  const { terms } = scope
  // Absent fields of the row rule take the values that the rule requires.
  const given = { ...rowValues(collection, event.view.rows), ...writable(event, terms) }
  const draft = await scope.call('default', () =>
    completeItem(collection, given, terms.runtime.now),
  )
  const faults = allFaults(event, draft, terms)
  return { event, scope, stored: null, unfit: [], draft, faults }
}

/** Prepares an Update: the stored item with the submitted values. Throws NOT_FOUND if it does not exist. */
export async function openUpdate(event: UpdateEvent, scope: Scope): Promise<Save> {
  const { terms } = scope
  const { item, unfit } = await readItem(event, terms)
  const draft = { ...item, ...writable(event, terms) }
  const faults = allFaults(event, item, terms)
  return { event, scope, stored: Object.freeze(item), unfit, draft, faults }
}

/**
 * Rejects a save with errors of its own, and lists missing required fields with them. Application code
 * never receives a value of a wrong type.
 */
export function rejectInvalid(save: Save): RejectedOutcome | undefined {
  if (save.faults.length === 0) return undefined
  const { view, submitted, type } = save.event
  const named = new Set(save.faults.map((entry) => entry.field))
  const missing = incomplete(save).filter((entry) => !named.has(entry.field))
  const entries = [...save.faults, ...entriesFor(view, missing)]
  return reject(type, submitted.echo, inDefinitionOrder(view.sendable, entries))
}

/** Runs the application code before the write. Returns a rejection if there are blocking findings. */
export async function examine(
  save: Save,
  steps: readonly ('before' | 'validations')[],
): Promise<RejectedOutcome | undefined> {
  const { event, scope } = save
  await scope.untilRejected(async () => {
    if (steps.includes('before')) await runBefore(save)
    requireOwnRow(save)
    if (steps.includes('validations')) await validate(save)
  })
  const { blocking, information } = await decideSave(save)
  if (blocking.length === 0) return undefined
  return reject(event.type, event.submitted.echo, [...blocking, ...information])
}

/** Decides on the findings of a save. */
export function decideSave({ event, scope }: Save): Promise<Decision> {
  const { caller } = scope.terms
  const { view, type, submitted } = event
  const key = event.type === 'Update' ? event.key : []
  return decide(
    scope.findings,
    { view, event: type, key, data: submitted.values },
    caller.confirmed,
  )
}

async function runBefore({ event, scope, stored: item, draft }: Save): Promise<void> {
  const { collection, type } = event
  const before = collection.events[type]?.before
  if (before === undefined) return
  const seen = { ...scope.context(), item: draft, stored: item }
  await scope.call('before', () =>
    before(seen as BeforeInsert<CollectionShape> & BeforeUpdate<CollectionShape>),
  )
  await scope.call('before', () => Object.assign(draft, acceptedItem(collection, draft)))
  scope.add(collection.constraints(draft))
}

async function validate(save: Save): Promise<void> {
  const { event, scope, stored: before, draft: item } = save
  scope.add(incomplete(save))
  const rules = rulesOn(event.collection, event.type)
  await checkRules(rules, scope, { event: event.type, item, stored: before })
}

async function write(save: Save, store: () => Row | Promise<Row>): Promise<Outcome> {
  const { event, scope } = save
  const { type, submitted } = event
  const result = await storeOrFault(event.view, store)
  if ('fault' in result) {
    const { information } = await decideSave(save)
    const entries = [...entriesFor(event.view, [result.fault]), ...information]
    return reject(type, submitted.echo, entries)
  }
  const { row } = result
  const decided = () => decideSave(save)
  const { stored: before, unfit } = save
  return finishWrite({ event, scope, row, stored: before, unfit, echo: submitted.echo, decided })
}

/** Throws FORBIDDEN if the item would not meet the row rule of the caller. */
function requireOwnRow({ event, scope, draft }: Save): void {
  const { caller } = scope.terms
  const { collection, type, view } = event
  if (isAmong(collection, view.rows, draft)) return
  const names = view.rows.map(({ field }) => field).join(', ')
  const reason = `${type} of ${collection.application}/${collection.name} would leave the caller's rows, which are decided by ${names}`
  throw forbidden({ user: caller.principal.user, reason })
}

function allFaults(
  event: InsertEvent | UpdateEvent,
  before: Readonly<ItemValues>,
  terms: Terms,
): readonly ValidationEntry[] {
  const { collection, submitted } = event
  // A field that the caller can't write may be sent back unchanged.
  const changed = collection.fields
    .filter((field) => field.name in submitted.values && !maySet(field, event, terms))
    .filter(
      (field) => stored(field, submitted.values[field.name]) !== stored(field, before[field.name]),
    )
  return [...submitted.faults, ...changed.map((field) => fault(field.name, 'is read-only'))]
}

function incomplete({ event, stored: before, draft }: Save): readonly ValidationEntry[] {
  const { collection, submitted } = event
  if (before === null) {
    const missing = requiredFaults(collection, draft, (field) => field.generated !== 'database')
    return [...missing, ...keyFaults(collection, draft)]
  }
  // A stored item that lacks a required value can still be changed in other fields.
  const touched = (field: PublishedField) =>
    field.name in submitted.values || before[field.name] !== null
  return [...requiredFaults(collection, draft, touched), ...keyFaults(collection, draft)]
}

function writable(event: InsertEvent | UpdateEvent, terms: Terms): ItemValues {
  const { collection, submitted } = event
  const isWritable = ([name]: [string, unknown]) => {
    const field = collection.byName.get(name)
    return field !== undefined && maySet(field, event, terms)
  }
  return Object.fromEntries(Object.entries(submitted.values).filter(isWritable))
}

// Clients can't write read-only fields; handlers and `system` can.
function maySet(
  field: PublishedField,
  { view }: InsertEvent | UpdateEvent,
  { running, caller }: Terms,
): boolean {
  const isByApplication = running.depth > 1 || caller.principal === system
  return view.mayWrite(field) && (isByApplication || !field.readOnly)
}

function rowOf(
  collection: PublishedCollection,
  item: Readonly<ItemValues>,
  among: (field: PublishedField, value: Row[string]) => boolean,
): Row {
  const row: Record<string, Row[string]> = {}
  for (const field of collection.fields) {
    const value = stored(field, item[field.name])
    if (among(field, value ?? null)) row[field.name] = value
  }
  return row
}
