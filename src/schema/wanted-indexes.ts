import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { folded } from './model.ts'

/** A field of an index, and its direction. */
export interface IndexField {
  readonly field: PublishedField
  readonly descending: boolean
}

/** An index that a table should have. */
export interface WantedIndex {
  readonly table: string
  readonly unique: boolean
  readonly fields: readonly IndexField[]
}

/** Returns the indexes of unique groups and those that the definition of a collection declares. */
export function declaredIndexes(collection: PublishedCollection): readonly WantedIndex[] {
  const { table, uniques, indexes } = collection
  return [
    ...uniques.map((fields) => uniqueIndex(collection, fields)),
    ...indexes.map((fields) => ({ table, unique: false, fields })),
  ]
}

/** Returns the unique index of a group of fields. */
export function uniqueIndex(
  { table }: PublishedCollection,
  fields: readonly PublishedField[],
): WantedIndex {
  return { table, unique: true, fields: ascending(fields) }
}

/**
 * Returns the indexes of a new table of collections: those that are declared, and one for each reference, because
 * a delete of a referenced row looks for the rows that refer to it.
 */
export function indexesOfNew(collections: readonly PublishedCollection[]): readonly WantedIndex[] {
  const table = (collections[0] as PublishedCollection).table
  const declared = collections.flatMap(declaredIndexes)
  const ofReferences = collections
    .flatMap(({ references }) => references)
    .map(({ fields }) => ({ table, unique: false, fields: ascending(fields) }))
  const keys = collections.map(({ key }) => ascending(key))
  const created: WantedIndex[] = []
  const uniques = declared.filter(({ unique }) => unique)
  const others = [...declared.filter(({ unique }) => !unique), ...ofReferences]
  // The longest first: an index also serves reads by its first columns.
  for (const wanted of [
    ...uniques,
    ...others.toSorted((a, b) => b.fields.length - a.fields.length),
  ]) {
    const isPresent = wanted.unique
      ? created.some(
          (one) =>
            one.unique && isStart(wanted.fields, one.fields) && isStart(one.fields, wanted.fields),
        )
      : [...keys, ...created.map(({ fields }) => fields)].some((all) => isStart(wanted.fields, all))
    if (!isPresent) created.push({ ...wanted, table })
  }
  return created
}

/** Returns fields in ascending order. */
export function ascending(fields: readonly PublishedField[]): WantedIndex['fields'] {
  return fields.map((field) => ({ field, descending: false }))
}

function isStart(fields: readonly IndexField[], of: readonly IndexField[]): boolean {
  return fields.every(({ field, descending }, index) => {
    const other = of[index]
    return (
      other !== undefined &&
      folded(other.field.column) === folded(field.column) &&
      other.descending === descending
    )
  })
}

/** Returns one field of each column by its folded name, a field of the key if there is one. */
export function sharedFields(
  sharing: readonly PublishedCollection[],
  fold: (column: string) => string = folded,
): ReadonlyMap<string, PublishedField> {
  const fields = new Map<string, PublishedField>()
  for (const field of sharing.flatMap((collection) => collection.fields)) {
    const name = fold(field.column)
    if (field.inKey || !fields.has(name)) fields.set(name, field)
  }
  return fields
}
