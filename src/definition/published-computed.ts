import type { ComputedField } from './computed.ts'
import { publishField, type PublishedField } from './published-field.ts'

/** A computed field with everything that is known at start. */
export interface PublishedComputed {
  readonly name: string
  /** The type of its values, and who may read it. */
  readonly field: PublishedField
  readonly needs: readonly PublishedField[]
  readonly compute: (values: never) => unknown
}

/** Returns the published computed fields of a checked definition. */
export function publishComputed(
  declared: Readonly<Record<string, ComputedField<never>>>,
  byName: ReadonlyMap<string, PublishedField>,
): readonly PublishedComputed[] {
  return Object.freeze(
    Object.entries(declared).map(([name, { field: type, needs: names, compute }]) => {
      const needs = names.map((needed) => byName.get(needed) as PublishedField)
      const published = publishField(name, type, { inKey: false, isServed: false })
      const field = Object.freeze({
        ...published,
        includeByDefault: type.includeByDefault ?? false,
        itemOnly: published.itemOnly || needs.some(({ itemOnly }) => itemOnly),
        readOnly: true,
        search: false,
      })
      return Object.freeze({ name, field, needs, compute })
    }),
  )
}
