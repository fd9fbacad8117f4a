import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import { slowConditionText, slowOrderText } from '../observation/reports.ts'

/** What is wrong with a table or with stored rows. */
export interface StorageProblem {
  /**
   * `table`: the table does not fit its definition. `unfit`: stored values do not fit their field, required values are
   * missing, or no path can have a key.
   * `order`: pages in an order of these fields are sorts of the whole table, which is no mistake.
   * `condition`: conditions on these fields read the whole table, which is no mistake either.
   * `reference`: a referenced item does not exist. `duplicate`: items have the same unique values.
   */
  readonly kind: 'table' | 'unfit' | 'reference' | 'duplicate' | 'order' | 'condition'
  /** The endpoint names: `application/collection`. */
  readonly collection: string
  /** The names of the fields; empty for a table. */
  readonly fields: readonly string[]
  /** What is wrong, and what to do. */
  readonly message: string
  /** The number of affected items; of `duplicate`, those that are more than one. Null for a table, an order or a condition. */
  readonly count: number | null
  /** Up to three affected items: the key and the stored value. */
  readonly examples: readonly string[]
}

/** Called while the rows of a collection are inspected, with the number of rows so far and in all. */
export type InspectionProgress = (
  collection: PublishedCollection,
  rows: number,
  total: number,
) => void

type Found = Pick<StorageProblem, 'count' | 'examples'>

/** Returns the problem about a table that does not fit. */
export function tableProblem(collection: PublishedCollection, message: string): StorageProblem {
  return {
    kind: 'table',
    collection: placeOf(collection),
    fields: [],
    message,
    count: null,
    examples: [],
  }
}

/** Returns the problem about a collection, or a reference of it, that can't be inspected. */
export function unreadProblem(
  collection: PublishedCollection,
  reason: string,
  reference?: Reference,
): StorageProblem {
  if (reference === undefined) return tableProblem(collection, `its rows can't be read: ${reason}`)
  const names = reference.fields.map(({ name }) => name).join(', ')
  return tableProblem(
    collection,
    `${names} can't be compared with the items of ${reference.to.name}: ${reason}`,
  )
}

/** Returns the problem about stored values that do not fit their field. `advice` says what to do. */
export function unfitProblem(
  collection: PublishedCollection,
  field: PublishedField,
  { total, advice, ...found }: FoundAmong & { readonly advice: string },
): StorageProblem {
  const form = field.storedAs === undefined ? '' : `, stored as ${field.storedAs}`
  const message = `${field.name} must be ${field.mustBe}${form}, but ${found.count ?? 0} of ${total} items ${found.count === 1 ? 'has' : 'have'} another stored value. ${advice}`
  return { kind: 'unfit', collection: placeOf(collection), fields: [field.name], message, ...found }
}

type FoundAmong = Found & { readonly total: number }

/** Returns the problem about items without the value of a required field. */
export function missingProblem(
  collection: PublishedCollection,
  { name }: PublishedField,
  { total, ...found }: FoundAmong,
): StorageProblem {
  const message = `${name} is required, but ${found.count ?? 0} of ${total} items ${found.count === 1 ? 'has' : 'have'} no value. Give them one with rowgate schema apply --fill, with SQL, or through the service.`
  return { kind: 'unfit', collection: placeOf(collection), fields: [name], message, ...found }
}

/** Returns the problem about items that no request can reach by their key. */
export function unreachableProblem(
  collection: PublishedCollection,
  { total, ...found }: FoundAmong,
): StorageProblem {
  const names = collection.key.map(({ name }) => name)
  const message = `${names.join(', ')}: the key of ${found.count ?? 0} of ${total} items cannot be in a path, because a part is empty, a dot segment or has a comma, or because it is longer than ${collection.maxKeyLength} bytes, percent-encoded. Pages have these items, but no request reads, updates or deletes one of them. Change the keys with SQL.`
  return { kind: 'unfit', collection: placeOf(collection), fields: names, message, ...found }
}

/** Returns the problem about items that refer to missing items. */
export function referenceProblem({ from, fields, to }: Reference, found: Found): StorageProblem {
  const names = fields.map(({ name }) => name)
  const message = `${names.join(', ')} must be the key of an item of ${to.name}, but ${itemsOf(found)} another value. Correct these values, or add the missing items.`
  return { kind: 'reference', collection: placeOf(from), fields: names, message, ...found }
}

/** Returns the problem about items with the same values of a unique group. */
export function duplicateProblem(
  collection: PublishedCollection,
  group: readonly PublishedField[],
  found: Found,
): StorageProblem {
  const names = group.map(({ name }) => name)
  const message = `${names.join(', ')} must be unique, but ${itemsOf(found)} the values of another one. Change or delete them, and create a unique index.`
  return { kind: 'duplicate', collection: placeOf(collection), fields: names, message, ...found }
}

/** Conditions on fields of a collection that read the whole table. */
export interface UnindexedConditions {
  readonly collection: PublishedCollection
  /** The fields that an index should begin with. */
  readonly fields: readonly PublishedField[]
  /** The parameters, such as `status.in`, references and row rules that have these conditions. */
  readonly conditions: readonly string[]
  /** The statements that create the indexes. Empty: no index serves the conditions. */
  readonly statements: readonly string[]
}

/** Returns the problem about an order in which pages are sorts of the whole table. */
export function orderProblem(
  collection: PublishedCollection,
  fields: readonly PublishedField[],
  statements: readonly string[],
): StorageProblem {
  const names = fields.map(({ name }) => name)
  return {
    kind: 'order',
    collection: placeOf(collection),
    fields: names,
    message: slowOrderText(names, statements),
    count: null,
    examples: [],
  }
}

/** Returns the problem about conditions that read a whole table. */
export function conditionProblem({
  collection,
  fields,
  conditions,
  statements,
}: UnindexedConditions): StorageProblem {
  const names = fields.map(({ name }) => name)
  return {
    kind: 'condition',
    collection: placeOf(collection),
    fields: names,
    message: slowConditionText(names, conditions, statements),
    count: null,
    examples: [],
  }
}

function placeOf({ application, name }: PublishedCollection): string {
  return `${application}/${name}`
}

function itemsOf({ count }: Found): string {
  return count === 1 ? '1 item has' : `${String(count)} items have`
}

/** The advice for values of which nothing is known. */
export const correctThem =
  'Correct them with SQL, or through the service: it updates and deletes such items.'
