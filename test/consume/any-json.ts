import fc from 'fast-check'
import type { Json } from '../../src/protocol/json.ts'

/** Keys that a naive implementation treats as its own, or that change a prototype. */
export const hostileKeys = [
  ...['', '/', '~', '~1', '~0', 'a', 'b', 'a/b', 'id', 'parent_id', 'index', 'key', 'value'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '0', '1', 'length', 'values'],
]

/** Arbitrary JSON values whose objects have some of these keys. */
export function anyJson(keys: readonly string[] = hostileKeys): fc.Arbitrary<Json> {
  const scalar: fc.Arbitrary<Json> = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string(),
  )
  const value = (levels: number): fc.Arbitrary<Json> => {
    if (levels === 0) return scalar
    const inner = value(levels - 1)
    const list: fc.Arbitrary<Json> = fc.array(inner, { maxLength: 4 })
    const members = { maxKeys: 4, noNullPrototype: true }
    const object: fc.Arbitrary<Json> = fc.dictionary(fc.constantFrom(...keys), inner, members)
    return fc.oneof(scalar, list, object)
  }
  return value(5)
}
