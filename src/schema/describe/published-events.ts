import type { PublishedEventName } from '../../definition/handler.ts'
import type { AddNote, ChosenTable } from './choose-fields.ts'
import { writeEvents, type ColumnDescription, type Denied, type WriteEvent } from './description.ts'

/** What limits the writes of a column of a table that may be written. */
export interface ColumnLimit {
  readonly note: string
  /** Whether no event can write it. */
  readonly isReadOnly: boolean
}

/** Returns what limits the writes of a column; undefined if only the events of its table limit them. */
export function limitOf(table: ChosenTable, column: ColumnDescription): ColumnLimit | undefined {
  const right = rightOf(table, column)
  if (right !== undefined) return { note: rightNotes[right], isReadOnly: right === 'none' }
  if (column.fixed === undefined || !updatesOf(table).fixed.includes(column)) return undefined
  return { note: `read-only: ${column.fixed}`, isReadOnly: true }
}

// What the role may do with a column that it may not write in every event.
const rightNotes = {
  none: 'read-only: the role may not write it',
  insert: "an update can't change it: the role may not",
  update: "an insert can't set it: the role may not",
}

/** Returns in which events the role may write a column; undefined if the events of its table do not limit it. */
function rightOf(
  { table, key, fields }: ChosenTable,
  { name, isComputed, denied }: ColumnDescription,
): keyof typeof rightNotes | undefined {
  if (isComputed || fields.get(name)?.readOnly === true) return undefined
  // An update does not write the key.
  const events = (['Insert', 'Update'] as const)
    .filter((event) => table.readOnly === undefined && !isDenied(table, event))
    .filter((event) => event === 'Insert' || !key.includes(name))
  const allowed = events.filter((event) => !denied.includes(event))
  if (allowed.length === events.length) return undefined
  if (allowed.length === 0) return 'none'
  return allowed.includes('Insert') ? 'insert' : 'update'
}

function isDenied({ denied }: ChosenTable['table'], event: WriteEvent): boolean {
  return denied.some(({ events }) => events.includes(event))
}

/** Which columns no update can set, and why no update is published at all. */
interface Updates {
  readonly fixed: readonly ColumnDescription[]
  readonly noUpdate: string | undefined
}

function updatesOf({ table, fields, key }: ChosenTable): Updates {
  if (key.length === 0 || isDenied(table, 'Update')) return { fixed: [], noUpdate: undefined }
  const changeable = table.columns.filter(({ name, isComputed }) => {
    const field = fields.get(name)
    return field !== undefined && field.readOnly !== true && !isComputed && !key.includes(name)
  })
  const fixed = changeable.filter((column) => column.fixed !== undefined)
  // A read-only field could not get the value that an insert needs.
  const needed = fixed.find(
    ({ notNull, hasDefault }) => !isDenied(table, 'Insert') && notNull && !hasDefault,
  )
  const [first] = fixed.length === changeable.length ? fixed : []
  const noUpdate = (needed ?? first)?.fixed
  return { fixed: noUpdate === undefined ? fixed : [], noUpdate }
}

/** Returns the events that a table is published for, and notes why others are not; undefined if all are that it can have. */
export function publishedEvents(
  chosen: ChosenTable,
  note: AddNote,
): readonly PublishedEventName[] | undefined {
  const { table, key } = chosen
  if (table.readOnly !== undefined) {
    note(table.name, `read-only: it is ${table.readOnly}`)
    return ['Filter']
  }
  const reasons = new Map<WriteEvent, string>()
  for (const { events, reason } of deniedEvents(chosen))
    for (const event of events) if (!reasons.has(event)) reasons.set(event, reason)
  for (const reason of new Set(reasons.values())) {
    const events = writeEvents.filter((event) => reasons.get(event) === reason)
    const named = events.map((event) => `no ${event.toLowerCase()}`).join(' and ')
    note(table.name, `${events.length === writeEvents.length ? 'read-only' : named}: ${reason}`)
  }
  // Without a key, there are no single items.
  const possible = key.length === 0 ? (['Insert'] as const) : writeEvents
  const published = possible.filter((event) => !reasons.has(event))
  return published.length === possible.length ? undefined : ['Filter', ...published]
}

function deniedEvents(chosen: ChosenTable): readonly Denied[] {
  const { table, fields, key } = chosen
  const { noUpdate } = updatesOf(chosen)
  const missing = table.columns.find(({ name, notNull, hasDefault, isComputed, denied }) => {
    const isSettable =
      fields.has(name) && fields.get(name)?.readOnly !== true && !denied.includes('Insert')
    const isNeeded = notNull || key.includes(name)
    return isNeeded && !isSettable && !hasDefault && !isComputed && name !== table.generated
  })
  const noKey = 'it has no key that can be published'
  const noValue = `clients can't set ${missing?.name ?? ''}, which needs a value`
  return [
    ...(key.length === 0 ? [{ events: ['Update', 'Delete'] as const, reason: noKey }] : []),
    ...table.denied,
    ...(noUpdate === undefined ? [] : [{ events: ['Update'] as const, reason: noUpdate }]),
    ...(missing === undefined ? [] : [{ events: ['Insert'] as const, reason: noValue }]),
  ]
}
