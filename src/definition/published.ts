import { requirePlainObject, requirePlainPrototype } from '../checks/plain-object.ts'
import { keyNamesOf, type CollectionDefinition } from './collection.ts'
import { publishConcurrency, type Concurrency } from './concurrency.ts'
import { publishComputed, type PublishedComputed } from './published-computed.ts'
import type { PublishedEventName } from './handler.ts'
import type { OnDelete } from './field.ts'
import type { CollectionShape, Draft } from './item.ts'
import { withoutUndefined } from '../checks/options.ts'
import { publishHandlers, repeatableEvents, type PublishedHandlers } from './handlers.ts'
import { operatorsOf, publishOperators, type OperatorParameters } from './published-operators.ts'
import { publishField, type PublishedField } from './published-field.ts'
import { publishGroups, type IndexField } from './relations.ts'
import { rolesByEvent, type RowRule } from './rights.ts'
import { publishableEvents, type Serve } from './serve.ts'
import type { ValidatedEvent, Validation } from './validation.ts'
import { defaultTargetLength, encodePath } from '../protocol/path.ts'
import { parameters, type SortKey } from '../protocol/query.ts'

/** A collection with everything that is computed from it at start. Immutable. */
export interface PublishedCollection extends OperatorParameters {
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
  /** The computed fields, which are not stored, in definition order. */
  readonly computed: readonly PublishedComputed[]
  /** The fields of responses: `byName` and the computed fields. */
  readonly responseFields: ReadonlyMap<string, PublishedField>
  /** Whether one of `responseFields` is a json field, whose stored value is JSON text. */
  readonly hasJson: boolean
  /** The key's fields in order; empty for a collection without key. */
  readonly key: readonly PublishedField[]
  /** The bytes that a key can have in the path of an item, percent-encoded. Infinity: no key of its types has more. */
  readonly maxKeyLength: number
  /** The groups of fields whose values together are unique, without the key. A null does not count. */
  readonly uniques: readonly (readonly PublishedField[])[]
  /** The indexes that the definition declares. */
  readonly indexes: readonly (readonly IndexField[])[]
  /** The references of its items. */
  readonly references: readonly Reference[]
  /** The references to its items, or to items of a table whose name differs in case only. */
  readonly referredBy: readonly IncomingReference[]
  /** The relations whose items clients can ask for with its own. */
  readonly expansions: readonly PublishedExpansion[]
  /** The fields that end every sort order: the key, or without a key all sortable fields. */
  readonly tieBreakers: readonly PublishedField[]
  /** The names of all fields, of those included by default, and of those that `$q` searches. */
  readonly allNames: readonly string[]
  readonly defaultNames: readonly string[]
  readonly searchNames: readonly string[]
  /** Whether `$q` should use an index. */
  readonly hasSearchIndex: boolean
  readonly publishes: ReadonlySet<PublishedEventName>
  /** Whether Filter is published at its path; false if it is served by `get` alone. */
  readonly hasPages: boolean
  /** The order of pages without `$sort`. */
  readonly defaultSort: readonly SortKey[]
  /** Whether its pages have cursors. */
  readonly hasCursor: boolean
  /** Whether a count of its pages may be an estimate. */
  readonly estimatesCount: boolean
  /** Its conditional requests; undefined if it has none. */
  readonly concurrency: Concurrency | undefined
  readonly requiredFilters: readonly string[]
  /** Whether the path of the collection leads to its single item. */
  readonly singleton: boolean
  /** The lists of roles by event: a caller needs one role of each list. */
  readonly rolesFor: Readonly<Record<PublishedEventName | 'Custom', readonly (readonly string[])[]>>
  readonly rows: RowRule<CollectionShape> | undefined
  /** The collections of its application by name. */
  readonly siblings: ReadonlyMap<string, PublishedCollection>
  readonly pageSize: { readonly default: number; readonly maximum: number }
  readonly validations: readonly Rule[]
  /** The validations that each event runs. */
  readonly rulesOn: Readonly<Record<ValidatedEvent, readonly Rule[]>>
  readonly events: PublishedHandlers
  /** The events whose transactions are repeated after a conflict although their code has run. */
  readonly repeatable: ReadonlySet<PublishedEventName>
  /** The functions that serve it; undefined if it is stored. */
  readonly serve: Serve<CollectionShape> | undefined
  /** Whether a Filter is one read of storage: the collection is stored, and Filter has no handlers. */
  readonly filtersDirectly: boolean
  /** Whether its responses may be cached: a Filter is one read, and the definition allows it. */
  readonly isCached: boolean
  /** Whether a default of a field is a function. */
  readonly computesDefaults: boolean
  /** Whether a field has the default of its column. */
  readonly hasColumnDefaults: boolean
}

/** A reference of one collection to another: its fields hold the key of an item, or null. */
export interface Reference {
  readonly from: PublishedCollection
  /** The fields that refer, in the order of the key of `to`. */
  readonly fields: readonly PublishedField[]
  readonly to: PublishedCollection
  readonly onDelete: OnDelete
}

/** A reference, seen from a collection that has the table of the referenced one. */
export interface IncomingReference {
  readonly reference: Reference
  /** The fields of this collection that the reference holds, in its order. */
  readonly key: readonly PublishedField[]
}

/** A relation whose items clients can ask for with the items of a collection. */
export interface PublishedExpansion {
  /** The member of an item that has them. */
  readonly name: string
  /** Whether an item has any number of them, or at most one. */
  readonly isMany: boolean
  readonly to: PublishedCollection
  /** The fields of the item, and those of the others that have the same values. */
  readonly own: readonly PublishedField[]
  readonly theirs: readonly PublishedField[]
  /** Their order. */
  readonly sort: readonly SortKey[]
  /** The most of them in one item. */
  readonly limit: number
}

type Rule = Validation<Draft<CollectionShape>>

/** The options of its application and service that a collection depends on. */
export interface PublishOptions {
  /** The largest page maximum, in items. Default 100. */
  readonly maxPageSize?: number
  /** The longest request target, in bytes. Default 8192. */
  readonly maxTargetLength?: number
  /** The roles that may use the application. Default: every caller. */
  readonly roles?: readonly string[] | undefined
  /** What `publishApplications` fills with references and siblings. Default: the collection has none. */
  readonly relations?: Pick<
    PublishedCollection,
    'references' | 'referredBy' | 'expansions' | 'siblings'
  >
}

const unrelated = Object.freeze({
  references: Object.freeze([]),
  referredBy: Object.freeze([]),
  expansions: Object.freeze([]),
  siblings: new Map<string, PublishedCollection>(),
})

/** Returns the published collection of a checked definition, with its defaults. */
export function publishCollection(
  application: string,
  name: string,
  definition: CollectionDefinition,
  options: PublishOptions = {},
): PublishedCollection {
  requirePlainPrototype('The definition', definition, 'publishCollection')
  requirePlainObject('The options', options, 'publishCollection')
  const { maxPageSize = 100, maxTargetLength = defaultTargetLength } = options
  const { roles, relations = unrelated } = options
  const keyNames = keyNamesOf(definition)
  const inKey = new Set(keyNames)
  const fields = Object.entries(definition.fields).map(([field, declared]) =>
    publishField(field, declared, {
      inKey: inKey.has(field),
      isServed: definition.serve !== undefined,
    }),
  )
  const byName = new Map(fields.map((field) => [field.name, field]))
  const key = keyNames.map((part) => byName.get(part) as PublishedField)
  const computed = publishComputed(definition.computed ?? {}, byName)
  const maximum = definition.pageSize?.maximum ?? maxPageSize
  const serve = definition.serve && Object.freeze(withoutUndefined(definition.serve))
  const events = publishHandlers(definition.events)
  const filtersDirectly =
    serve === undefined && events.Filter?.before === undefined && events.Filter?.after === undefined
  const place = { application, collection: name }
  return Object.freeze({
    application,
    name,
    definition,
    table: definition.table ?? name,
    key,
    maxKeyLength: keyRoom(maxTargetLength - encodePath({ ...place, key: '' }).length, key),
    ...publishGroups(definition, byName),
    ...relations,
    ...selections(fields, key, computed),
    ...publishOperators(definition, byName),
    hasSearchIndex: definition.search === 'indexed',
    publishes: new Set(definition.publishes ?? publishableEvents(definition)),
    hasPages: serve === undefined || serve.filter !== undefined || definition.singleton === true,
    defaultSort: parameters.sort.decode(definition.defaultSort?.join(',') ?? '') ?? [],
    hasCursor: definition.cursor ?? false,
    estimatesCount: definition.count === 'estimated' && filtersDirectly,
    concurrency: publishConcurrency(definition, byName),
    requiredFilters: definition.requiredFilters ?? [],
    singleton: definition.singleton ?? false,
    rolesFor: rolesByEvent([roles, definition.roles], definition.eventRoles),
    rows: definition.rows,
    pageSize: { default: definition.pageSize?.default ?? Math.min(10, maximum), maximum },
    ...rules(definition.validations),
    events,
    repeatable: repeatableEvents(definition.events),
    serve,
    filtersDirectly,
    isCached: filtersDirectly && definition.cache !== false,
    computesDefaults: fields.some(({ definition: each }) => typeof each.default === 'function'),
    hasColumnDefaults: fields.some(({ hasColumnDefault }) => hasColumnDefault),
  })
}

// The longest value of another type than text is a decimal of 38 digits, or a time with percent-encoded colons.
const maxShortPart = 48

function keyRoom(room: number, key: readonly PublishedField[]): number {
  const isShort = key.every(({ type }) => type !== 'text') && key.length * maxShortPart <= room
  return isShort ? Infinity : Math.max(0, room)
}

/** Returns the collection with only some of its fields. The stored ones must contain its key. */
export function withFields(
  collection: PublishedCollection,
  fields: readonly PublishedField[],
  computed: readonly PublishedComputed[],
): PublishedCollection {
  return Object.freeze({
    ...collection,
    ...selections(fields, collection.key, computed),
    ...operatorsOf(collection, fields),
  })
}

type Selections = Pick<
  PublishedCollection,
  | 'fields'
  | 'byName'
  | 'computed'
  | 'responseFields'
  | 'hasJson'
  | 'tieBreakers'
  | 'allNames'
  | 'defaultNames'
  | 'searchNames'
>

function selections(
  fields: readonly PublishedField[],
  key: readonly PublishedField[],
  computed: readonly PublishedComputed[],
): Selections {
  const byName = new Map(fields.map((field) => [field.name, field]))
  // The lists are not frozen: each request loops over them, and V8 loops over a frozen list five times more slowly.
  return {
    fields,
    byName,
    computed,
    responseFields:
      computed.length === 0
        ? byName
        : new Map([...byName, ...computed.map(({ name, field }) => [name, field] as const)]),
    hasJson: [...fields, ...computed.map(({ field }) => field)].some(({ type }) => type === 'json'),
    tieBreakers: key.length > 0 ? key : fields.filter((field) => field.kind.compare !== undefined),
    allNames: namesOf(fields),
    defaultNames: namesOf(fields.filter((field) => field.includeByDefault)),
    searchNames: namesOf(fields.filter((field) => field.search)),
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
  return fields.map((field) => field.name)
}
