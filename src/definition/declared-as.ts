import type { CollectionShape } from './item.ts'

const key = Symbol.for('rowgate.declaredAs')

/** Returns the definitions that a collection was made of: code can also find it by them. */
export function declaredAs(definition: CollectionShape): readonly CollectionShape[] {
  return (definition as { readonly [key]?: readonly CollectionShape[] })[key] ?? []
}

/** Records that a collection was made of these definitions, and freezes it. */
export function madeOf<Made extends CollectionShape>(
  made: Made,
  definitions: readonly CollectionShape[],
): Made {
  const value = Object.freeze(definitions.flatMap((one) => [one, ...declaredAs(one)]))
  // Not enumerable, so that it is not an option of the definition.
  return Object.freeze(Object.defineProperty(made, key, { value }))
}
