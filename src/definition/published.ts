import type { CollectionDefinition } from './collection.ts'
import { compileConstraints, type CheckConstraints } from './constraints.ts'
import type { Field } from './field.ts'
import { fieldTypes, isValueOf, type FieldType, type StoredValue } from './field-type.ts'
import type { PublishedEventName } from './handler.ts'
import type { CollectionShape, Draft } from './item.ts'
import { withoutUndefined } from '../checks/options.ts'
import { publishHandlers, type PublishedHandlers } from './handlers.ts'
import type { EventRoles, RowRule } from './rights.ts'
import { servesEvent, type Serve } from './serve.ts'
import type { ValidatedEvent, Validation } from './validation.ts'
import type { Json } from '../protocol/json.ts'
import { parameters, type SortKey } from '../protocol/query.ts'

/** A field with everything that is computed from it at start. */
export interface PublishedField {
  readonly name: string
  /** The name as a JSON object writes it, with its colon. */
  readonly member: string
  /** The field as it was declared. */
  readonly definition: Field
  readonly type: Field['type']
  readonly kind: FieldType
  /** The end of a message that begins with "must be". */
  readonly mustBe: string
  /** Returns the stored form of an accepted value; equal values have equal stored forms. */
  readonly store: (value: Json | undefined) => StoredValue
  /** Returns the value of a stored form, as items have it. */
  readonly show: (stored: StoredValue) => Json
  /** Returns the canonical form of a value of application code. Throws a TypeError for a wrong type. */
  readonly accept: (value: unknown) => Json
  /** Returns the stored form of a canonical string of a query or path; undefined for another string. */
  readonly storeText: (text: string) => StoredValue | undefined
  /** Returns whether a value that storage returned, other than null, is a stored form of the field. */
  readonly isStored: (value: unknown) => boolean
  /** The name in storage. */
  readonly column: string
  readonly includeByDefault: boolean
  /** Whether it is left out of pages. */
  readonly itemOnly: boolean
  readonly required: boolean
  readonly readOnly: boolean
  readonly search: boolean
  /** The roles that may read and that may set the field; undefined for every caller. */
  readonly readableBy: readonly string[] | undefined
  readonly writableBy: readonly string[] | undefined
  readonly inKey: boolean
  /** `uuid`, `now` or `database`; undefined when nothing is generated. */
  readonly generated: 'uuid' | 'now' | 'database' | undefined
  /** Whether an insert may leave out the value, because storage or the serving function supplies it. */
  readonly suppliedAtInsert: boolean
}

/** A collection with everything that is computed from it at start. Immutable. */
export interface PublishedCollection {
  /** The endpoint name of its application. */
  readonly application: string
  /** Its endpoint name. */
  readonly name: string
  readonly definition: CollectionDefinition
  /** The name in storage. */
  readonly table: string
  /** In definition order. */
  readonly fields: readonly PublishedField[]
  readonly byName: ReadonlyMap<string, PublishedField>
  /** The key's fields in order; empty for a collection without key. */
  readonly key: readonly PublishedField[]
  /** The fields that end every sort order: the key, or without a key all sortable fields. */
  readonly tieBreakers: readonly PublishedField[]
  /** The names of all fields, of those included by default, and of those that `$q` searches. */
  readonly allNames: readonly string[]
  readonly defaultNames: readonly string[]
  readonly searchNames: readonly string[]
  readonly publishes: ReadonlySet<PublishedEventName>
  /** Whether Filter is published at its path; false if it is served by `get` alone. */
  readonly hasPages: boolean
  /** The order of pages without `$sort`. */
  readonly defaultSort: readonly SortKey[]
  readonly requiredFilters: readonly string[]
  /** Whether the path of the collection is that of its single item. */
  readonly singleton: boolean
  /** The lists of roles by event: a caller needs one role of each list. */
  readonly rolesFor: Readonly<Record<PublishedEventName | 'Custom', readonly (readonly string[])[]>>
  readonly rows: RowRule<CollectionShape> | undefined
  readonly pageSize: { readonly default: number; readonly maximum: number }
  readonly validations: readonly Rule[]
  /** The validations that each event runs. */
  readonly rulesOn: Readonly<Record<ValidatedEvent, readonly Rule[]>>
  readonly events: PublishedHandlers
  /** The functions that serve it; undefined if it is stored. */
  readonly serve: Serve<CollectionShape> | undefined
  /** Whether a Filter is one read of storage: the collection is stored, and Filter has no handlers. */
  readonly filtersDirectly: boolean
  /** Whether its responses may be cached: a Filter is one read, and the definition allows it. */
  readonly isCached: boolean
  /** Whether a default of a field is a function. */
  readonly computesDefaults: boolean
  readonly constraints: CheckConstraints
}

type Rule = Validation<Draft<CollectionShape>>

/** The options of its application and service that a collection depends on. */
export interface PublishOptions {
  /** The largest page maximum, in items. Default 100. */
  readonly maxPageSize?: number
  /** The roles that may use the application. Default: every caller. */
  readonly roles?: readonly string[] | undefined
}

/** Returns the published collection of a checked definition, with its defaults. */
export function publishCollection(
  application: string,
  name: string,
  definition: CollectionDefinition,
  { maxPageSize = 100, roles }: PublishOptions = {},
): PublishedCollection {
  const keyNames = typeof definition.key === 'string' ? [definition.key] : (definition.key ?? [])
  const fields = Object.entries(definition.fields).map(([field, declared]) =>
    publishField(field, declared, {
      inKey: keyNames.includes(field),
      isServed: definition.serve !== undefined,
    }),
  )
  const key = keyNames.map((part) => fields.find(({ name }) => name === part) as PublishedField)
  const maximum = definition.pageSize?.maximum ?? maxPageSize
  const serve = definition.serve && Object.freeze(withoutUndefined(definition.serve))
  const events = publishHandlers(definition.events)
  const filtersDirectly =
    serve === undefined && events.Filter?.before === undefined && events.Filter?.after === undefined
  return Object.freeze({
    application,
    name,
    definition,
    table: definition.table ?? name,
    key,
    ...selections(fields, key),
    publishes: new Set(definition.publishes ?? publishableEvents(definition)),
    hasPages: serve === undefined || serve.filter !== undefined || definition.singleton === true,
    defaultSort: parameters.sort.decode(definition.defaultSort?.join(',') ?? '') ?? [],
    requiredFilters: definition.requiredFilters ?? [],
    singleton: definition.singleton ?? false,
    rolesFor: rolesByEvent([roles, definition.roles], definition.eventRoles),
    rows: definition.rows,
    pageSize: { default: definition.pageSize?.default ?? Math.min(10, maximum), maximum },
    ...rules(definition.validations),
    events,
    serve,
    filtersDirectly,
    isCached: filtersDirectly && definition.cache !== false,
    computesDefaults: fields.some(({ definition: each }) => typeof each.default === 'function'),
    constraints: compileConstraints(
      Object.fromEntries(fields.map((field) => [field.name, field.definition])),
    ),
  })
}

/** Returns the collection with only some of its fields. They must contain its key. */
export function withFields(
  collection: PublishedCollection,
  fields: readonly PublishedField[],
): PublishedCollection {
  return Object.freeze({ ...collection, ...selections(fields, collection.key) })
}

/**
 * Returns the events that a collection can publish. Without a key, items have no path; a served collection
 * needs a function for each event.
 */
export function publishableEvents({
  key = [],
  singleton,
  serve,
}: Pick<CollectionDefinition, 'key' | 'singleton' | 'serve'>): readonly PublishedEventName[] {
  const events = singleton === true ? singletonEvents : key.length > 0 ? allEvents : keylessEvents
  return serve === undefined ? events : events.filter((event) => servesEvent(serve, event))
}

const allEvents = ['Filter', 'Insert', 'Update', 'Delete'] as const
const keylessEvents = ['Filter', 'Insert'] as const
const singletonEvents = ['Filter'] as const

type Selections = Pick<
  PublishedCollection,
  'fields' | 'byName' | 'tieBreakers' | 'allNames' | 'defaultNames' | 'searchNames'
>

function selections(fields: readonly PublishedField[], key: readonly PublishedField[]): Selections {
  return {
    fields: Object.freeze(fields),
    byName: new Map(fields.map((field) => [field.name, field])),
    tieBreakers: key.length > 0 ? key : fields.filter((field) => field.kind.compare !== undefined),
    allNames: namesOf(fields),
    defaultNames: namesOf(fields.filter((field) => field.includeByDefault)),
    searchNames: namesOf(fields.filter((field) => field.search)),
  }
}

function rolesByEvent(
  everyEvent: readonly (readonly string[] | undefined)[],
  byEvent: EventRoles = {},
): PublishedCollection['rolesFor'] {
  const lists = (event?: PublishedEventName) =>
    [...everyEvent, event && byEvent[event]].filter((roles) => roles !== undefined)
  return {
    Filter: lists('Filter'),
    Insert: lists('Insert'),
    Update: lists('Update'),
    Delete: lists('Delete'),
    Custom: lists(),
  }
}

function rules(
  declared: CollectionDefinition['validations'] = [],
): Pick<PublishedCollection, 'validations' | 'rulesOn'> {
  const validations = Object.freeze(declared.map(withoutUndefined))
  const on = (event: ValidatedEvent): readonly Rule[] =>
    validations.filter(({ events = ['Insert', 'Update'] }) => events.includes(event))
  return {
    validations,
    rulesOn: { Insert: on('Insert'), Update: on('Update'), Delete: on('Delete') },
  }
}

function namesOf(fields: readonly PublishedField[]): readonly string[] {
  return Object.freeze(fields.map((field) => field.name))
}

function publishField(
  name: string,
  declared: Field,
  { inKey, isServed }: { readonly inKey: boolean; readonly isServed: boolean },
): PublishedField {
  const definition = copyOf(declared)
  const kind = fieldTypes[definition.type]
  const generated = 'generated' in definition ? definition.generated : undefined
  return Object.freeze({
    name,
    member: `${JSON.stringify(name)}:`,
    definition,
    type: definition.type,
    kind,
    ...conversions(name, definition),
    column: definition.column ?? name,
    includeByDefault: definition.includeByDefault ?? true,
    itemOnly: definition.itemOnly ?? false,
    required: inKey || (definition.required ?? false),
    readOnly: definition.readOnly ?? false,
    search: definition.itemOnly !== true && (definition.search ?? kind.searchable),
    readableBy: definition.readableBy,
    writableBy: definition.writableBy,
    inKey,
    generated,
    suppliedAtInsert: generated === 'database' || (isServed && definition.readOnly === true),
  })
}

// Later changes of the definition must have no effect.
function copyOf(declared: Field): Field {
  const copy = withoutUndefined(declared)
  if (copy.enumeration === undefined) return Object.freeze(copy)
  return Object.freeze({ ...copy, enumeration: Object.freeze([...copy.enumeration]) } as Field)
}

type Conversions = Pick<
  PublishedField,
  'mustBe' | 'store' | 'show' | 'accept' | 'storeText' | 'isStored'
>

function conversions(name: string, definition: Field): Conversions {
  const kind = fieldTypes[definition.type]
  const mustBe = kind.mustBe(definition)
  const store = (value: Json | undefined): StoredValue =>
    value === null || value === undefined ? null : kind.store(value, definition)
  return {
    mustBe,
    store,
    show: kind.show,
    accept: (value) => {
      if (isValueOf(definition, value)) return kind.show(store(value as Json))
      throw new TypeError(`The value of ${name} must be ${mustBe}.`)
    },
    storeText: (text) =>
      kind.acceptsText(text, definition) ? kind.storeText(text, definition) : undefined,
    isStored: (value) => kind.isStored(value, definition),
  }
}
