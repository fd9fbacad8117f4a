import { parameters } from '../protocol/query.ts'
import type { ApplicationDefinition } from './application.ts'
import type { CollectionDefinition } from './collection.ts'
import type { Mistake } from './mistake.ts'

/**
 * The fields of `defaultSort` and `requiredFilters` that some caller of Filter can't read. The order of
 * a page would reveal their values, and a condition on them could not be sent.
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
    // A caller has one role of each list, so one list of readers only is enough.
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
