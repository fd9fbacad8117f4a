import type { ApplicationDefinitions } from '../../definition/application.ts'
import { checkApplications } from '../../definition/check.ts'
import type { CollectionBehaviour, CollectionDefinition } from '../../definition/collection.ts'
import type { Field } from '../../definition/field.ts'
import type { CollectionShape } from '../../definition/item.ts'
import { codePlaces, missingCode } from '../../definition/omitted-code.ts'
import type { Json } from '../../protocol/json.ts'

// The compiler names the option that is missing here. Row rules may be data.
const code = {
  validations: true,
  events: true,
  userDefinedEvents: true,
} satisfies Record<Exclude<keyof CollectionBehaviour<CollectionShape>, 'rows'>, true>

/**
 * Application definitions as JSON, as `readApplications` reads it back: row rules that are data are
 * included, code is not; `omittedCode` of each collection lists what it was exported without. The same definitions give the same JSON, in whatever order applications,
 * collections and options were written; fields keep their order, which is that of responses.
 */
export function definitionData(
  applications: ApplicationDefinitions,
): Readonly<Record<string, Json>> {
  const data = ordered(applications, ({ collections, ...options }) => ({
    ...inOrder(options),
    collections: ordered(collections, collectionData),
  }))
  // A copy that is JSON and nothing else.
  return JSON.parse(JSON.stringify(data)) as Readonly<Record<string, Json>>
}

/**
 * The places of the code that {@link definitionData} leaves out or that the definitions lack already,
 * such as `applications.sales.collections.orders.events.Insert.before`, in order.
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
 * Reads {@link definitionData} and checks it. A page may be as large as it likes: its maximum is that
 * of the service which publishes the collection. No pattern is evaluated: a package of an unknown origin
 * could bring one that never ends.
 */
export function applicationsOf(data: unknown): ApplicationDefinitions {
  return checkApplications(data, {
    form: 'json',
    maximumPageSize: Number.MAX_SAFE_INTEGER,
  })
}

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

/** The code that the collection has, and what it was itself exported without. */
function omittedFrom(collection: CollectionDefinition): readonly string[] {
  return [...codePlaces(collection), ...missingCode(collection)].sort()
}

function fieldData(field: Field): object {
  const { default: value, ...options } = field
  // Values keep their order: a json field's default is written as it was declared.
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
