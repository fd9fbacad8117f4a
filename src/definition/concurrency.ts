import type { Mistake } from '../checks/mistakes.ts'
import { listed } from '../checks/nearest-name.ts'
import type { CollectionDefinition } from './collection.ts'
import { fieldOf } from './field.ts'
import { fieldTypes } from './field-type.ts'
import type { PublishedField } from './published-field.ts'

/** The conditional requests of a collection. */
export interface Concurrency {
  /** Whether an update or delete of an item requires `If-Match`. */
  readonly isRequired: boolean
  /** The field that stands for the version of an item; undefined: all fields that the caller can read. */
  readonly version: PublishedField | undefined
}

/** Returns the conditional requests of a checked definition; undefined if it has none. */
export function publishConcurrency(
  { concurrency }: Pick<CollectionDefinition, 'concurrency'>,
  byName: ReadonlyMap<string, PublishedField>,
): Concurrency | undefined {
  if (concurrency === undefined) return undefined
  const { ifMatch, version } = concurrency
  return Object.freeze({
    isRequired: ifMatch === 'required',
    version: version === undefined ? undefined : byName.get(version),
  })
}

/** Returns the mistakes in the conditional requests of a well-formed collection. */
export function concurrencyMistakes({
  concurrency,
  fields,
}: CollectionDefinition): readonly Mistake[] {
  const version = concurrency?.version
  if (version === undefined) return []
  const place = 'concurrency.version'
  const field = fieldOf(fields, version)
  if (field === undefined) {
    const advice = `${version} is not a field; the fields are ${listed(Object.keys(fields))}`
    return [{ place, advice }]
  }
  if (!fieldTypes[field.type].filterable) {
    return [{ place, advice: `a ${field.type} field like ${version} cannot be a version` }]
  }
  if (field.required === true) return []
  const advice = `${version} must be required: items without a version could not be distinguished`
  return [{ place, advice }]
}
