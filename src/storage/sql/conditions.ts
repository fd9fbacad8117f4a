import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { ConditionOf } from '../../request/query.ts'
import type { Condition } from '../adapter.ts'
import { join, sql, type Inputs, type Slot, type Sql } from './fragments.ts'

/** A condition of one field. */
export type FieldCondition = Extract<Condition, { readonly field: string }>

/** Where conditions are evaluated: on the rows of a collection, under an alias. */
export interface Place {
  readonly collection: PublishedCollection
  /** The number of aliases in the statement so far. */
  readonly aliases: { count: number }
  /** The table, with its alias. */
  readonly table: Sql
  /** Returns the place of another collection in the same statement. */
  other(collection: PublishedCollection, alias: string): Place
  /** Returns the term that a field equals a part of the key of another place. */
  equals(field: PublishedField, other: Place, part: PublishedField): Sql
  /** Returns the term of a condition of a field. `at` returns the condition of the values that are bound. */
  fieldTerm(field: PublishedField, condition: FieldCondition, at: Locate): Sql
}

/** Returns a condition of the values that a statement binds. */
export type Locate = (inputs: Inputs) => Condition | undefined

/** Returns how the conditions of a query are found. */
export const topLevel =
  (index: number): Locate =>
  ({ conditions }) =>
    conditions[index]

/** Returns how the conditions inside of a condition are found. */
export function within(at: Locate): (index: number) => Locate {
  return (index) => (inputs) => {
    const outer = at(inputs)
    return outer !== undefined && 'conditions' in outer ? outer.conditions[index] : undefined
  }
}

/** Returns the terms of conditions, all of which must hold. */
export function termsOf(
  place: Place,
  conditions: readonly Condition[],
  locate: (index: number) => Locate = topLevel,
): readonly Sql[] {
  return conditions.map((condition, index) => termOf(place, condition, locate(index)))
}

/** Returns the condition as a term: true, or false or null if a row does not meet it. */
export function termOf(place: Place, condition: Condition, at: Locate): Sql {
  switch (condition.is) {
    case 'and':
    case 'or': {
      const terms = termsOf(place, condition.conditions, within(at))
      if (terms.length === 0) return condition.is === 'and' ? sql`1 = 1` : sql`1 = 0`
      return sql`(${join(terms, condition.is === 'and' ? sql` and ` : sql` or `)})`
    }
    case 'not': {
      // A comparison with a column without value is null.
      const negated = termOf(place, condition.condition, (inputs) => {
        const found = at(inputs)
        return found?.is === 'not' ? found.condition : undefined
      })
      return sql`((${negated}) is not true)`
    }
    case 'through': {
      const other = otherPlace(place, condition)
      const inner = termsOf(other, condition.conditions, within(at))
      const terms = [...keyTerms(place, condition, other), ...inner]
      return sql`exists (select 1 from ${other.table}${where(terms)})`
    }
    default:
      return place.fieldTerm(fieldOf(place.collection, condition.field), condition, at)
  }
}

/** Returns the place of the collection to which a condition leads, under an alias of its own. */
export function otherPlace(place: Place, { collection }: ConditionOf<'through'>): Place {
  place.aliases.count += 1
  return place.other(collection, `p${place.aliases.count}`)
}

/** Returns the terms that the fields of a condition equal the key of the other collection. */
export function keyTerms(
  place: Place,
  { fields, collection }: ConditionOf<'through'>,
  other: Place,
): readonly Sql[] {
  return collection.key.map((part, index) =>
    place.equals(fieldOf(place.collection, fields[index] as string), other, part),
  )
}

/** Returns whether a condition reads another table. */
export function readsOthers(condition: Condition): boolean {
  switch (condition.is) {
    case 'through':
      return true
    case 'and':
    case 'or':
      return condition.conditions.some(readsOthers)
    case 'not':
      return readsOthers(condition.condition)
    default:
      return false
  }
}

/** Returns the WHERE clause of terms. Empty, or it starts with a space. */
export function where(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`` : sql` where ${join(terms, sql` and `)}`
}

/** Returns a field by name. Throws a TypeError if the collection has none. */
export function fieldOf(collection: PublishedCollection, name: string): PublishedField {
  const field = collection.byName.get(name)
  if (field !== undefined) return field
  throw new TypeError(`${collection.application}/${collection.name} has no field ${name}`)
}

/** Returns a parameter that is the text of a condition. */
export function textSlot(
  at: Locate,
  change: (text: string) => string | null = (text) => text,
): Slot {
  return { read: (inputs) => change((at(inputs) as ConditionOf<'contains' | 'startsWith'>).text) }
}

/** Returns the number of parameters for a list: few different ones. The last value is repeated. */
export function slotCount(length: number): number {
  return length === 0 ? 0 : 2 ** Math.ceil(Math.log2(length))
}
