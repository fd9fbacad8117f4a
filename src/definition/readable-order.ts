import { parameters } from '../protocol/query.ts'
import type { ApplicationDefinition } from './application.ts'
import type { CollectionDefinition } from './collection.ts'
import type { Mistake } from './mistake.ts'

/**
 * Returns a mistake for each field of `defaultSort` and `requiredFilters` that some caller of Filter can't
 * read: the order of a page would reveal its values, and such a caller can't filter by it.
 */
export function unreadableOrder(
  { roles }: Pick<ApplicationDefinition, 'roles'>,
  collection: CollectionDefinition,
): readonly Mistake[] {
  const { defaultSort = [], requiredFilters = [], fields } = collection
  const callers = [roles, collection.roles, collection.eventRoles?.Filter]
  const isReadable = (name: string): boolean => {
    const readers = Object.hasOwn(fields, name) ? fields[name]?.readableBy : undefined
    if (readers === undefined) return true
    // A caller has one role of each list, so one list that contains only readers is enough.
    return callers.some((list) => list?.every((role) => readers.includes(role)))
  }
  const sorted = parameters.sort.decode(defaultSort.join(',')) ?? []
  const named = [
    ...sorted.map(({ field }) => ['defaultSort', field] as const),
    ...requiredFilters.map((field) => ['requiredFilters', field] as const),
  ]
  return named
    .filter(([, field]) => !isReadable(field))
    .map(([place, field]) => ({
      place,
      advice: `${field} can not be used here: some callers of Filter can not read it (readableBy)`,
    }))
}
