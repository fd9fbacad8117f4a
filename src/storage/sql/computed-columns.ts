import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'

/** The part of a column that decides which values statements may give it. */
interface WrittenColumn {
  /** Whether the database computes it from other columns. */
  readonly isComputed: boolean
  /** Whether a change of its value is rejected. Default false. */
  readonly isFixed?: boolean
}

/**
 * Returns why saves of a field would fail whose column takes no value, or no change of it, as the end of a sentence.
 * Undefined: they would not.
 */
export function computedMistake(
  { publishes }: PublishedCollection,
  { readOnly, hasColumnDefault, inKey }: PublishedField,
  { isComputed, isFixed = false }: WrittenColumn,
): string | undefined {
  if (!publishes.has('Insert') && !publishes.has('Update')) return undefined
  // An update does not write the key.
  const isChanged = isFixed && !inKey && publishes.has('Update')
  const isSaved = isComputed ? readOnly && hasColumnDefault : readOnly || !isChanged
  if (isSaved) return undefined
  const reason = isComputed
    ? 'is computed by the database'
    : "can't be updated, because it is GENERATED ALWAYS AS IDENTITY"
  return `${reason}. Set readOnly: true and default: 'database'.`
}
