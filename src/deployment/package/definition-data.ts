import type { ApplicationDefinitions } from '../../definition/application.ts'
import { checkApplications, inspectApplications } from '../../definition/check.ts'
import type { CollectionBehaviour, CollectionDefinition } from '../../definition/collection.ts'
import type { Field } from '../../definition/field.ts'
import type { CollectionShape } from '../../definition/item.ts'
import type { Mistake } from '../../checks/mistakes.ts'
import { codePlaces, missingCode } from '../../definition/omitted-code.ts'
import { parseJson, stringifyJson } from '../../protocol/json-text.ts'
import type { Json } from '../../protocol/json.ts'

// Complete by type: a new option with code is a compile error here. `rows` may be data.
const code = {
  validations: true,
  computed: true,
  events: true,
  serve: true,
  userDefinedEvents: true,
} satisfies Record<Exclude<keyof CollectionBehaviour<CollectionShape>, 'rows'>, true>

/**
 * Returns application definitions as JSON that `readApplications` can read. Row rules that are data are
 * included. Code is not: `omittedCode` of each collection lists its places. Equal definitions result in
 * equal JSON, whatever the order of applications, collections and options; fields keep their order, since
 * responses depend on it.
 */
export function definitionData(
  applications: ApplicationDefinitions,
): Readonly<Record<string, Json>> {
  const data = ordered(applications, ({ collections, ...options }) => ({
    ...inOrder(options),
    collections: ordered(collections, collectionData),
  }))
  // Removes undefined options, and copies everything.
  return parseJson(stringifyJson(data) as string) as Readonly<Record<string, Json>>
}

/**
 * Returns the places of the code that {@link definitionData} omits or that was omitted before, sorted,
 * such as `applications.sales.collections.orders.events.Insert.before`.
 */
export function omittedCode(applications: ApplicationDefinitions): readonly string[] {
  return Object.entries(applications)
    .flatMap(([application, { collections }]) =>
      Object.entries(collections).flatMap(([name, collection]) =>
        omittedFrom(collection).map(
          (place) => `applications.${application}.collections.${name}.${place}`,
        ),
      ),
    )
    .sort()
}

/**
 * Checks the result of {@link definitionData} and returns it as definitions. Throws a TypeError that lists
 * every mistake.
 */
export function applicationsOf(data: unknown): ApplicationDefinitions {
  return checkApplications(data, dataForm)
}

/** Returns the mistakes in the result of {@link definitionData}. */
export function definitionMistakes(data: unknown): readonly Mistake[] {
  return inspectApplications(data, dataForm).mistakes
}

// The maximum page size is checked by the service that publishes the collection. Patterns are not
// evaluated (no `toServe`): a pattern of an untrusted package could take unbounded time.
const dataForm = { form: 'json', maxPageSize: Number.MAX_SAFE_INTEGER } as const

function collectionData(collection: CollectionDefinition): object {
  const { fields, rows, omittedCode: _, ...options } = collection
  const omittedCode = omittedFrom(collection)
  const data = Object.entries(options).filter(([name]) => !Object.hasOwn(code, name))
  return {
    ...inOrder(Object.fromEntries(data)),
    ...(omittedCode.length > 0 && { omittedCode }),
    ...(typeof rows === 'object' && { rows: inOrder(rows) }),
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, fieldData(field)]),
    ),
  }
}

/** Returns the places of the code of a collection, and of the code that was omitted before. */
function omittedFrom(collection: CollectionDefinition): readonly string[] {
  return [...codePlaces(collection), ...missingCode(collection)].sort()
}

function fieldData(field: Field): object {
  const { default: value, ...options } = field
  // The members of a json field's default keep their order.
  const all = typeof value === 'function' ? options : { ...options, default: value }
  return ordered(all, (option) => option)
}

function ordered<Value, Result>(
  record: Readonly<Record<string, Value>>,
  convert: (value: Value) => Result,
): Readonly<Record<string, Result>> {
  return Object.fromEntries(
    Object.entries(record)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => [name, convert(value)]),
  )
}

function inOrder(value: object): object {
  return ordered(value as Readonly<Record<string, unknown>>, (inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inOrder(inner) : inner,
  )
}
