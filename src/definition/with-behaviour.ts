import { mistaken } from '../checks/mistakes.ts'
import { requireKnown } from '../checks/options.ts'
import type {
  CollectionBehaviour,
  CollectionDefinition,
  NoEvents,
  NoFields,
  ShapeOf,
  UserDefinedEvents,
} from './collection.ts'
import { madeOf } from './declared-as.ts'
import type { Fields } from './field.ts'
import type { CollectionShape } from './item.ts'
import { codeMistakes, joinCode } from './with-code.ts'

/**
 * Returns a declared collection with code: validations, handlers and the other members of a behaviour. Code
 * may look up the declared collection, and others that are declared before the code of any of them, with
 * types: `find(orders, ...)` finds the collection that was made of `orders`. Throws a TypeError for unknown
 * members, and for code that the definition has already.
 *
 * ```ts
 * const customers = defineCollection({ key: 'id', fields: { id: integer() } })
 * const orders = defineCollection({ key: 'id', fields: { id: integer(), customerId: integer() } })
 *
 * const collections = {
 *   customers: withBehaviour(customers, {
 *     validations: [
 *       error('no-orders', {
 *         events: ['Delete'],
 *         check: async ({ id }, { find }) =>
 *           (await find(orders, { customerId: id })).length > 0 ? 'There are orders.' : undefined,
 *       }),
 *     ],
 *   }),
 *   orders: withBehaviour(orders, { ... }),
 * }
 * ```
 */
export function withBehaviour<
  F extends Fields,
  K,
  Declared,
  DeclaredX extends Fields,
  U extends UserDefinedEvents<F, K> = NoEvents,
  PS = never,
  PI = never,
  PU = never,
  PD = never,
  const X extends Fields = NoFields,
  O = undefined,
  E = undefined,
>(
  definition: CollectionDefinition<F, K, Declared, DeclaredX, O, E>,
  behaviour: CollectionBehaviour<ShapeOf<F, K>, U, PS, PI, PU, PD, X>,
): CollectionDefinition<F, K, Declared & U, DeclaredX & X, O, E> {
  requireKnown('withBehaviour', behaviour, members)
  // Any definition is one, and its code is called with items of its fields.
  const data = definition as unknown as CollectionDefinition
  const code = behaviour as unknown as CollectionBehaviour<CollectionShape>
  const mistakes = codeMistakes(data, code, 'behaviour')
  if (mistakes.length > 0) throw mistaken(mistakes)
  return madeOf(joinCode(data, code), [data]) as unknown as CollectionDefinition<
    F,
    K,
    Declared & U,
    DeclaredX & X,
    O,
    E
  >
}

const members = Object.keys({
  validations: true,
  rows: true,
  computed: true,
  events: true,
  serve: true,
  userDefinedEvents: true,
} satisfies Record<keyof CollectionBehaviour<CollectionShape>, true>)
