import type { ApplicationDefinitions } from '../definition/application.ts'
import type { Field } from '../definition/field.ts'
import { publishApplications } from '../definition/publish-applications.ts'
import type { PublishedField } from '../definition/published-field.ts'
import { parseJson } from '../protocol/json-text.ts'
import type { Json } from '../protocol/json.ts'
import { UsageError } from './command-error.ts'
import { printable } from './text.ts'

/**
 * Returns applications in which fields have the values of `--fill collection.field=value` as their defaults, so that rows
 * without a value get them. Throws a UsageError for anything else than values of required fields.
 */
export function withFills(
  applications: ApplicationDefinitions,
  fills: readonly string[],
): ApplicationDefinitions {
  return fills.reduce(withFill, applications)
}

function withFill(applications: ApplicationDefinitions, fill: string): ApplicationDefinitions {
  const [application, collection, field, text] = targetOf(applications, fill)
  const value = valueOf(field, text)
  const own = applications[application]
  const definition = own?.collections[collection]
  if (own === undefined || definition === undefined) return applications
  const filled = { ...field.definition, default: value } as Field
  const fields = { ...definition.fields, [field.name]: filled }
  const collections = { ...own.collections, [collection]: { ...definition, fields } }
  return { ...applications, [application]: { ...own, collections } }
}

type Target = readonly [
  application: string,
  collection: string,
  field: PublishedField,
  value: string,
]

// Names may have dots and equals signs, so a fill is compared with the names that there are.
function targetOf(applications: ApplicationDefinitions, fill: string): Target {
  const found = publishApplications(applications).flatMap(({ application, name, fields }) =>
    fields.flatMap((field): readonly Target[] =>
      [`${name}.${field.name}=`, `${application}/${name}.${field.name}=`]
        .filter((start) => fill.startsWith(start))
        .map((start) => [application, name, field, fill.slice(start.length)]),
    ),
  )
  const shown = printable(fill)
  const [target, other] = found
  if (target === undefined) {
    throw new UsageError(
      `--fill ${shown}: there is no such field. Write <collection>.<field>=<value>, such as products.sku=unknown.`,
    )
  }
  if (other !== undefined) {
    throw new UsageError(
      `--fill ${shown}: several applications have this field. Write <application>/ before the collection.`,
    )
  }
  const [, , field] = target
  if (!field.required || field.inKey) {
    throw new UsageError(`--fill ${shown}: only a required field that is not in the key is filled.`)
  }
  return target
}

function valueOf(field: PublishedField, text: string): Json {
  const value = jsonOf(field, text)
  const [fault] = value === undefined ? [] : field.check(value)
  if (value === undefined || value === null || fault !== undefined) {
    const reason = fault?.message ?? `${field.name} must be ${field.mustBe}.`
    throw new UsageError(`--fill ${printable(field.name)}: ${printable(reason)}`)
  }
  // As a default, it would be the default of the column.
  if (value === 'database' || field.hasColumnDefault) {
    throw new UsageError(`--fill ${printable(field.name)}: write this value with SQL.`)
  }
  return value
}

function jsonOf(field: PublishedField, text: string): Json | undefined {
  if (field.type === 'json') {
    try {
      return parseJson(text)
    } catch {
      return undefined
    }
  }
  const stored = field.storeText(text)
  return stored === undefined ? undefined : field.show(stored)
}
