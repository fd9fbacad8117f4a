import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { boundedMap, type KeptSize } from '../../keep-latest.ts'
import type { Condition, SortField } from '../adapter.ts'
import { fieldOf } from './conditions.ts'
import type { Sql } from './fragments.ts'

// Clients choose fields and sort orders, so the number of shapes is otherwise unbounded.
const minCapacity = 256
// A page, its count, an item and a save.
const statementsPerCollection = 4

/** Returns how many statements are cached for a number of collections, so that all of them can be in use. */
export function statementCapacity(collections: number): number {
  return Math.max(minCapacity, collections * statementsPerCollection)
}

const minBytes = 8 * 1024 * 1024
// Each of its statements may read a hundred fields.
const bytesPerCollection = 256 * 1024

/** Returns how many bytes the statements of a number of collections may have. */
export function statementBytes(collections: number): number {
  return Math.max(minBytes, collections * bytesPerCollection)
}

/** The statements of shapes. */
export interface StatementTexts {
  /** Returns the statement of a shape. Writes it if it is not cached. */
  find(shape: string, write: () => Sql): Sql
  /** Returns what is cached. */
  size(): KeptSize
}

/** Creates a cache of statements for a number of collections. It evicts the least recently used one. */
export function statementTexts(collections: number): StatementTexts {
  const known = boundedMap<Sql>({
    maxEntries: () => statementCapacity(collections),
    maxBytes: () => statementBytes(collections),
  })
  return {
    find(shape, write) {
      const cached = known.get(shape)
      if (cached !== undefined) return cached
      const found = write()
      known.set(shape, found, bytesOf(found) + 2 * shape.length)
      return found
    },
    size: known.size,
  }
}

const bytesPerSlot = 200

// The texts, joined once more for the driver, and the functions that read the rows of the statement.
function bytesOf({ texts, slots }: Sql): number {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  return 1_000 + 4 * length + slots.length * bytesPerSlot
}

/** Returns the number of parameters of a list of values of a field. */
export type ListSlots = (field: PublishedField, length: number) => number

const identities = new WeakMap<PublishedCollection, number>()
let identified = 0

/** Returns a unique number for a collection object. */
export function identityOf(collection: PublishedCollection): number {
  const known = identities.get(collection)
  if (known !== undefined) return known
  identities.set(collection, ++identified)
  return identified
}

/** Returns a sort order as a string. */
export function sortShape(sort: readonly SortField[]): string {
  let shape = ''
  for (const { field, descending } of sort) shape += `${field}\0${descending ? '>' : '<'}\0`
  return shape
}

/** Returns a list of names as a string. For the lists of the collection itself it is short. */
export function listShape(
  { allNames, defaultNames, searchNames }: PublishedCollection,
  names: readonly string[],
): string {
  if (names === allNames) return '\0all'
  if (names === defaultNames) return '\0default'
  if (names === searchNames) return '\0search'
  return names.join('\0')
}

/** Returns the part of conditions that determines the SQL: fields and kinds, not values. */
export function conditionsShape(
  collection: PublishedCollection,
  conditions: readonly Condition[],
  listSlots: ListSlots,
): string {
  let shape = ''
  for (const condition of conditions) {
    if (condition.is === 'equal') {
      shape += `${condition.field}\0${condition.value === null ? 'n' : '='}\0`
    } else if (condition.is === 'empty') shape += `${condition.field}\0e\0`
    else shape += furtherShape(collection, condition, listSlots)
  }
  return shape
}

// A name of a field contains no parentheses, so the shapes of different conditions differ.
function furtherShape(
  collection: PublishedCollection,
  condition: Condition,
  listSlots: ListSlots,
): string {
  switch (condition.is) {
    case 'and':
    case 'or':
      return `(${condition.is}\0${conditionsShape(collection, condition.conditions, listSlots)})`
    case 'not':
      return `(not\0${conditionsShape(collection, [condition.condition], listSlots)})`
    case 'through': {
      const { collection: other, fields, conditions } = condition
      const target = `${identityOf(other)}\0${fields.join('\0')}`
      return `(through\0${target}(${conditionsShape(other, conditions, listSlots)}))`
    }
    case 'in': {
      const field = fieldOf(collection, condition.field)
      return `${condition.field}\0in${listSlots(field, condition.values.length)}\0`
    }
    default:
      return `${condition.field}\0${condition.is}\0`
  }
}
