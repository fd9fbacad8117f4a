import { equal, type Condition } from './query.ts'

/**
 * The part of a row rule that is unknown for every row of its caller. It is never met, and neither is its negation.
 */
export const unknown: Condition = Object.freeze({ is: 'or', conditions: Object.freeze([]) })

/**
 * Returns the condition of the rows for which a condition of a row rule is true. In a row rule, a comparison with a
 * field without value is unknown, as in SQL, and so is a `through` without its row; what is tested for null is true
 * or false. A row for which the rule is unknown must not be shown, nor one for which its negation is.
 */
export function whenTrue(condition: Condition): Condition {
  switch (condition.is) {
    case 'and':
    case 'or':
      return condition === unknown
        ? unknown
        : { is: condition.is, conditions: condition.conditions.map(whenTrue) }
    case 'not':
      return whenFalse(condition.condition)
    case 'through':
      return { ...condition, conditions: condition.conditions.map(whenTrue) }
    default:
      return condition
  }
}

/** Returns the condition of the rows for which a condition of a row rule is false, and not only unknown. */
function whenFalse(condition: Condition): Condition {
  switch (condition.is) {
    case 'and':
    case 'or':
      if (condition === unknown) return unknown
      return {
        is: condition.is === 'and' ? 'or' : 'and',
        conditions: condition.conditions.map(whenFalse),
      }
    case 'not':
      return whenTrue(condition.condition)
    case 'through':
      // The row must exist, and its own rule must be false.
      return {
        ...condition,
        conditions: [{ is: 'or', conditions: condition.conditions.map(whenFalse) }],
      }
    case 'empty':
      return not(condition)
    case 'equal':
      return condition.value === null ? not(condition) : knownNot(condition)
    case 'in':
      // A list without values is not compared with the field.
      return condition.values.length === 0 ? { is: 'and', conditions: [] } : knownNot(condition)
    default:
      return knownNot(condition)
  }
}

function knownNot(condition: Extract<Condition, { readonly field: string }>): Condition {
  return { is: 'and', conditions: [not(equal(condition.field, null)), not(condition)] }
}

function not(condition: Condition): Condition {
  return { is: 'not', condition }
}
