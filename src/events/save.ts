import type { BeforeInsert, BeforeUpdate } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import { system } from '../definition/principal.ts'
import type { PublishedCollection, PublishedField } from '../definition/published.ts'
import { forbidden, notFound } from '../errors.ts'
import { acceptedItem } from '../request/accepted.ts'
import { completeItem } from '../request/defaults.ts'
import type { InsertEvent, UpdateEvent } from '../request/event.ts'
import type { ItemValues, Row } from '../request/query.ts'
import { judge, type Judgement } from '../request/findings.ts'
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
  /** The item as it would be stored. Handlers may change it. */
  readonly draft: ItemValues
  /** What the request itself gets wrong. */
  readonly faults: readonly ValidationEntry[]
}

/** Insert: defaults, before, validations, the write, after (section 6). */
export async function insertItem(event: InsertEvent, scope: Scope): Promise<Outcome> {
  const save = await openInsert(event, scope)
  const refusal = refuseFaults(save) ?? (await examine(save, ['before', 'validations']))
  if (refusal !== undefined) return refusal
  const { collection } = event
  const row = rowOf(
    collection,
    save.draft,
    (field, value) => value !== null || field.generated !== 'database',
  )
  return write(save, () => scope.terms.running.transaction.insert(collection, row))
}

/** Update: the stored item with the submitted values, before, validations, the write, after (section 6). */
export async function updateItem(event: UpdateEvent, scope: Scope): Promise<Outcome> {
  const save = await openUpdate(event, scope)
  const refusal = refuseFaults(save) ?? (await examine(save, ['before', 'validations']))
  if (refusal !== undefined) return refusal
  const { collection, conditions } = event
  const before = save.stored ?? {}
  // A null that replaces a stored value which does not fit is a change, too.
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

/** Opens an Insert: the new item is the submitted one, completed with defaults. */
export async function openInsert(event: InsertEvent, scope: Scope): Promise<Save> {
  const { collection } = event
  const { terms } = scope
  // What the caller leaves out takes the value of the caller's own rows.
  const given = { ...rowValues(collection, event.view.rows), ...writable(event, terms) }
  const draft = await scope.call('default', () =>
    completeItem(collection, given, terms.runtime.now),
  )
  const faults = allFaults(event, draft, terms)
  return { event, scope, stored: null, unfit: [], draft, faults }
}

/** Opens an Update: the item is the stored one with the submitted values. Throws NOT_FOUND without one. */
export async function openUpdate(event: UpdateEvent, scope: Scope): Promise<Save> {
  const { terms } = scope
  const { item, unfit } = await readItem(event, terms)
  const draft = { ...item, ...writable(event, terms) }
  const faults = allFaults(event, item, terms)
  return { event, scope, stored: Object.freeze(item), unfit, draft, faults }
}

/**
 * Refuses what the request itself gets wrong, with whatever else is plainly missing (D22): code of
 * the host never meets a value of a wrong type.
 */
export function refuseFaults(save: Save): RejectedOutcome | undefined {
  if (save.faults.length === 0) return undefined
  const { view, submitted, type } = save.event
  const named = new Set(save.faults.map((entry) => entry.field))
  const missing = incomplete(save).filter((entry) => !named.has(entry.field))
  const entries = [...save.faults, ...entriesFor(view, missing)]
  return reject(type, submitted.echo, inDefinitionOrder(view.sendable, entries))
}

/** Runs the host's code around a save that has no faults of its own; a rejection when it objects. */
export async function examine(
  save: Save,
  steps: readonly ('before' | 'validations')[],
): Promise<RejectedOutcome | undefined> {
  const { event, scope } = save
  await scope.untilRefused(async () => {
    if (steps.includes('before')) await runBefore(save)
    requireOwnRow(save)
    if (steps.includes('validations')) await validate(save)
  })
  const { objections, information } = await judgeSave(save)
  if (objections.length === 0) return undefined
  return reject(event.type, event.submitted.echo, [...objections, ...information])
}

/** What the findings of a save amount to. */
export function judgeSave({ event, scope }: Save): Promise<Judgement> {
  const { caller } = scope.terms
  const { view, type, submitted } = event
  const key = event.type === 'Update' ? event.key : []
  return judge(scope.findings, { view, event: type, key, data: submitted.values }, caller.confirmed)
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
    const { information } = await judgeSave(save)
    const entries = [...entriesFor(event.view, [result.fault]), ...information]
    return reject(type, submitted.echo, entries)
  }
  const { row } = result
  const judged = () => judgeSave(save)
  const { stored: before, unfit } = save
  return finishWrite({ event, scope, row, stored: before, unfit, echo: submitted.echo, judged })
}

/** A save must leave the item among the rows of its caller (D45). */
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
  // A field that is closed to the caller may be sent back unchanged (D16).
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
  // An item that was incomplete already can still be changed elsewhere.
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

// Read-only fields are closed to consumers, not to the host: what a handler or `system` does is its.
function maySet(
  field: PublishedField,
  { view }: InsertEvent | UpdateEvent,
  { running, caller }: Terms,
): boolean {
  const isByHost = running.depth > 1 || caller.principal === system
  return view.mayWrite(field) && (isByHost || !field.readOnly)
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
