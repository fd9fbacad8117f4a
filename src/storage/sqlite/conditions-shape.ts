import type { PublishedCollection } from '../../definition/published.ts'
import type { Condition } from '../adapter.ts'
import { columnTypeOf } from './columns.ts'
import { slotCount } from './conditions.ts'
import { fieldOf } from './reading.ts'
import { identityOf } from './statement-cache.ts'

/** Returns the part of conditions that determines the SQL: fields and kinds, not values. */
export function conditionsShape(
  collection: PublishedCollection,
  conditions: readonly Condition[],
): string {
  let shape = ''
  for (const condition of conditions) {
    if (condition.is === 'equal') {
      shape += `${condition.field}\0${condition.value === null ? 'n' : '='}\0`
    } else if (condition.is === 'empty') shape += `${condition.field}\0e\0`
    else shape += furtherShape(collection, condition)
  }
  return shape
}

// A name of a field contains no parentheses, so the shapes of different conditions differ.
function furtherShape(collection: PublishedCollection, condition: Condition): string {
  switch (condition.is) {
    case 'and':
    case 'or':
      return `(${condition.is}\0${conditionsShape(collection, condition.conditions)})`
    case 'not':
      return `(not\0${conditionsShape(collection, [condition.condition])})`
    case 'through': {
      const { collection: other, fields, conditions } = condition
      const target = `${identityOf(other)}\0${fields.join('\0')}`
      return `(through\0${target}(${conditionsShape(other, conditions)}))`
    }
    case 'in': {
      const { hasExactJson } = columnTypeOf(fieldOf(collection, condition.field))
      const slots = hasExactJson ? '' : slotCount(condition.values.length)
      return `${condition.field}\0in${slots}\0`
    }
    default:
      return `${condition.field}\0${condition.is}\0`
  }
}
