import type { PublishedCollection } from '../../definition/published.ts'
import type { Condition, SortField } from '../adapter.ts'

const identities = new WeakMap<PublishedCollection, number>()
const lists = new WeakMap<readonly string[], string>()
let collections = 0
let numbered = 0

/** Returns a unique number for a collection object. */
export function identityOf(collection: PublishedCollection): number {
  const known = identities.get(collection)
  if (known !== undefined) return known
  identities.set(collection, ++collections)
  return collections
}

/** Returns the part of conditions that determines the SQL: fields and kinds, not values. */
export function conditionsShape(conditions: readonly Condition[]): string {
  let shape = ''
  for (const condition of conditions) {
    const kind = condition.is === 'empty' ? 'e' : condition.value === null ? 'n' : '='
    shape += `${condition.field}\0${kind}\0`
  }
  return shape
}

/** Returns a sort order as a string. */
export function sortShape(sort: readonly SortField[]): string {
  let shape = ''
  for (const { field, descending } of sort) shape += `${field}\0${descending ? '>' : '<'}\0`
  return shape
}

/** Returns a list of names as a string. For a frozen list it is short. */
export function listShape(names: readonly string[]): string {
  if (!Object.isFrozen(names)) return names.join('\0')
  const known = lists.get(names)
  if (known !== undefined) return known
  const shape = `\0${++numbered}`
  lists.set(names, shape)
  return shape
}
