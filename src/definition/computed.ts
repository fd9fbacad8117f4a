import { requirePlainObject } from '../checks/plain-object.ts'
import type { Field } from './field.ts'
import type { ValueOf } from './item.ts'

/** A field of the type `F` whose value a function computes from others, of items of the type `I`. Made by {@link computed}. */
export interface ComputedField<I, F extends Field = Field> {
  /** The type of the value. */
  readonly field: F
  /** The stored fields that the function receives. */
  readonly needs: readonly string[]
  readonly compute: (values: Readonly<I>) => unknown
}

/** The result of the function of a computed field. */
type ComputedValue<F extends Field> =
  ValueOf<F> | (F extends { readonly required: true } ? never : null)

/**
 * A field that is computed for responses, and not stored: its type, the stored fields that it needs, and a
 * function of their values. The function must be synchronous, and depend on nothing but these values. Pages
 * contain the field if `$fields` names it, and single items always.
 *
 * ```ts
 * const people = defineCollection(
 *   { key: 'id', fields: { id: integer(), firstName: text(), lastName: text() } },
 *   {
 *     computed: {
 *       fullName: computed(text(), ['firstName', 'lastName'], ({ firstName, lastName }) =>
 *         [firstName, lastName].filter(Boolean).join(' '),
 *       ),
 *     },
 *   },
 * )
 * ```
 */
export function computed<I, const Name extends keyof I & string, const F extends Field>(
  field: F,
  needs: readonly Name[],
  compute: (values: { readonly [Needed in Name]: I[Needed] }) => ComputedValue<F>,
): ComputedField<I, F> {
  requirePlainObject('The field', field, 'computed')
  return Object.freeze({ field, needs, compute })
}
