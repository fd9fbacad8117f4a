import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'

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
  const isInserted = publishes.has('Insert')
  // An update does not write the key.
  const isUpdated = publishes.has('Update') && !inKey && (isComputed || isFixed)
  const needsReadOnly = isUpdated || (isInserted && isComputed)
  // Without a default, an insert writes null into the column of a field that clients do not set.
  const isUnset = isComputed || (isFixed && !inKey && (readOnly || isUpdated))
  const missing = [
    ...(needsReadOnly && !readOnly ? ['readOnly: true'] : []),
    ...(isInserted && isUnset && !hasColumnDefault ? ["default: 'database'"] : []),
  ]
  if (missing.length === 0) return undefined
  const reason = isComputed
    ? 'is computed by the database'
    : 'is numbered by the database, because it is GENERATED ALWAYS AS IDENTITY'
  return `${reason}. Set ${missing.join(' and ')}.`
}
