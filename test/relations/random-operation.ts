import fc from 'fast-check'

/** An item of an operation: for each field a number that chooses its value; null is null, undefined absent. */
const randomItem = fc.array(fc.constantFrom(null, null, 0, 0, 0, 1, 1, 2, 3), {
  minLength: 12,
  maxLength: 12,
})
const who = fc.constantFrom('ada', 'bob', 'chief', 'chief')
const at = fc.nat(3)
const keyParts = fc.tuple(fc.nat(9), fc.nat(2))
const fieldsOf = fc.array(fc.nat(11), { minLength: 1, maxLength: 4 })

const single = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('insert' as const),
      who,
      at,
      key: keyParts,
      item: randomItem,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('update' as const),
      who,
      at,
      key: keyParts,
      item: randomItem,
      fields: fieldsOf,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('delete' as const), who, at, key: keyParts }),
  },
)

const several = fc.oneof(
  fc.record({
    do: fc.constant('insertMany' as const),
    who,
    at,
    items: fc.array(fc.tuple(keyParts, randomItem), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    do: fc.constant('updateMany' as const),
    who,
    at,
    field: fc.nat(11),
    value: fc.option(fc.nat(2), { nil: null }),
    item: randomItem,
    fields: fieldsOf,
  }),
  fc.record({
    do: fc.constant('deleteMany' as const),
    who,
    at,
    field: fc.nat(11),
    value: fc.option(fc.nat(2), { nil: null }),
  }),
)

/** A call in process of one operation. */
export type Call =
  typeof single extends fc.Arbitrary<infer Value>
    ? Value | (typeof several extends fc.Arbitrary<infer Other> ? Other : never)
    : never

/** A request, a call in process, a page, or a transaction of calls. */
export type Operation =
  | {
      readonly do: 'request'
      readonly call: Extract<Call, { readonly do: 'insert' | 'update' | 'delete' }>
    }
  | { readonly do: 'call'; readonly call: Call }
  | { readonly do: 'page'; readonly who: string; readonly at: number }
  | {
      readonly do: 'transaction'
      readonly calls: readonly Call[]
      readonly catches: boolean
      readonly throws: boolean
      readonly who: string
    }

/** Random operations of an application. */
export const randomOperation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('request' as const), call: single }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      call: fc.oneof(single, several, several),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('page' as const), who, at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('transaction' as const),
      calls: fc.array(fc.oneof(single, single, several), { minLength: 1, maxLength: 4 }),
      catches: fc.boolean(),
      throws: fc.boolean(),
      who,
    }),
  },
)
