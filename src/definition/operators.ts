import type { Field } from './field.ts'
import { fieldTypes } from './field-type.ts'

const equalities = ['ne', 'in', 'notIn', 'isNull'] as const
const ranges = ['lt', 'lte', 'gt', 'gte'] as const
const parts = ['contains', 'startsWith'] as const

/** The operators that conditions of HTTP can have besides equality. */
export const operatorNames = Object.freeze([...equalities, ...ranges, ...parts] as const)

/** The name of an operator of conditions of HTTP. */
export type OperatorName = (typeof operatorNames)[number]

/**
 * The operators of conditions of HTTP: those of each field, `indexed` for comparisons and lists of fields that lead an
 * index, or true for all of them.
 */
export type OperatorsData<Name extends string = string> =
  true | 'indexed' | Readonly<Partial<Record<Name, readonly RelatedOperatorName[]>>>

/** The name of an operator of a condition on a referenced item: `eq` is equality, which `customer.city=Oslo` asks for. */
export type RelatedOperatorName = OperatorName | 'eq'

/** The operators of a collection with these fields. */
export type OperatorsOn<F> = OperatorsData<(keyof F & string) | `${string}.${string}`>

/** A member for each name in operators that is neither a field nor one of a referenced item: it can have no value. */
export type OnlyFields<O, F> = O extends object
  ? Readonly<Record<Exclude<keyof O, keyof F | `${string}.${string}`>, never>>
  : unknown

/** Returns the operators that a field can have: none if it can't be filtered, or if pages leave it out. */
export function operatorsFor({ type, itemOnly }: Field): readonly OperatorName[] {
  const { filterable, compare } = fieldTypes[type]
  if (!filterable || itemOnly === true) return []
  if (type === 'boolean' || compare === undefined) return equalities
  return type === 'text' ? operatorNames : [...equalities, ...ranges]
}

/** The operators that `indexed` switches on: the others read all rows even with an index. */
export const indexedOperators = Object.freeze([...ranges, 'in'] as const)
