import type { CollectionDefinition } from './collection.ts'
import type { ExpandData } from './related-items.ts'
import type { OnDelete } from './field.ts'
import type { PublishedField } from './published-field.ts'

/** A field of an index. */
export interface IndexField {
  readonly field: PublishedField
  readonly descending: boolean
}

/** A reference as it is declared. */
export interface DeclaredReference {
  /** The places of its parts, relative to the collection. */
  readonly places: Readonly<Record<'collection' | 'fields' | 'onDelete', string>>
  /** Returns the place of a field, relative to the collection. */
  readonly fieldPlace: (name: string) => string
  readonly fields: readonly string[]
  readonly collection: string
  readonly onDelete: OnDelete
}

/** Returns whether the fields of a reference are these, in this order. */
export function isReferenceBy(
  fields: readonly string[],
  names: string | readonly string[],
): boolean {
  const own = typeof names === 'string' ? [names] : names
  return fields.length === own.length && fields.every((one, at) => one === own[at])
}

/** Returns whether an entry of `expand` has the items that refer to an item, and not the item that a reference has. */
export function isReversed(
  declared: string | readonly string[] | ExpandData,
): declared is ExpandData {
  return typeof declared === 'object' && !Array.isArray(declared)
}

/** Returns the references of a definition: first of single fields, then of several fields. */
export function declaredReferences({
  fields,
  references = [],
}: CollectionDefinition): readonly DeclaredReference[] {
  const ofFields = Object.entries(fields).flatMap(([name, field]): readonly DeclaredReference[] => {
    if (field.references === undefined) return []
    const place = `fields.${name}.references`
    const places = { collection: place, fields: place, onDelete: `fields.${name}.onDelete` }
    const { references: collection, onDelete = 'restrict' } = field
    return [{ places, fieldPlace: () => place, fields: [name], collection, onDelete }]
  })
  const ofGroups = references.map(
    ({ fields: names, collection, onDelete = 'restrict' }, index) => ({
      places: {
        collection: `references.${index}.collection`,
        fields: `references.${index}.fields`,
        onDelete: `references.${index}.onDelete`,
      },
      fieldPlace: (name: string) => `references.${index}.fields.${name}`,
      fields: names,
      collection,
      onDelete,
    }),
  )
  return [...ofFields, ...ofGroups]
}

/** The unique groups and the indexes of a collection. */
interface PublishedGroups {
  readonly uniques: readonly (readonly PublishedField[])[]
  readonly indexes: readonly (readonly IndexField[])[]
}

/** Returns the unique groups and the indexes of a definition, without indexes for its references. */
export function publishGroups(
  definition: CollectionDefinition,
  fields: ReadonlyMap<string, PublishedField>,
): PublishedGroups {
  const named = (name: string): PublishedField => fields.get(name) as PublishedField
  const single = [...fields.values()].filter((field) => field.definition.unique === true)
  const uniques = [
    ...single.map((field) => Object.freeze([field])),
    ...(definition.unique ?? []).map((names) => Object.freeze(names.map(named))),
  ]
  const indexes = (definition.index ?? []).map((names) =>
    Object.freeze(
      names.map((name) => {
        const descending = name.startsWith('-')
        return { field: named(descending ? name.slice(1) : name), descending }
      }),
    ),
  )
  return { uniques: Object.freeze(uniques), indexes: Object.freeze(indexes) }
}
