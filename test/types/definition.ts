import { defineCollection } from '../../src/definition/collection.ts'
import { decimal, integer, text } from '../../src/definition/field.ts'
import type { Item, Key, InsertValues } from '../../src/definition/item.ts'
import { error, warning } from '../../src/definition/validation.ts'

const lines = defineCollection(
  {
    key: ['orderId', 'product'],
    fields: {
      orderId: integer(),
      product: text(),
      note: text({ enumeration: ['a', 'b'] }),
      price: decimal({ precision: 5, scale: 2, required: true }),
    },
  },
  {
    validations: [
      warning('w', {
        field: 'note',
        check: (item, { find }) => {
          const n: 'a' | 'b' | null = item.note
          void find
          return n
        },
      }),
      error('x', { check: async (item) => (item.price === null ? 'no price' : undefined) }),
      // @ts-expect-error a rule about a field that does not exist
      error('y', { field: 'nope', check: () => null }),
    ],
    events: {
      Insert: {
        before(event) {
          event.item.note = 'a'
          // @ts-expect-error no such field
          event.item.nope = 1
        },
      },
    },
    userDefinedEvents: {
      approve: (event, input: { readonly by: string }) => event.own.get([1, input.by]),
    },
  },
)
export const key: Key<typeof lines> = [1, 'a']
export const item: Item<typeof lines> = { orderId: 1, product: 'x', note: 'a', price: '1.00' }
export const values: InsertValues<typeof lines> = { orderId: 1, product: 'x', price: '1' }
// @ts-expect-error price is required
export const less: InsertValues<typeof lines> = { orderId: 1, product: 'x' }
// @ts-expect-error an option that does not exist
export const misspelt = text({ maxLenght: 5 })
// @ts-expect-error the key names no field
export const wrongKey = defineCollection({ key: 'nope', fields: { a: text() } })
export const asAny: import('../../src/definition/collection.ts').CollectionDefinition = lines
const single = defineCollection({
  fields: { a: text() },
  events: {
    Filter: {
      before: (event) => {
        event.where({ a: 'x' })
        // @ts-expect-error no such field
        event.where({ b: 'x' })
      },
    },
  },
})
export const s2: import('../../src/definition/collection.ts').CollectionDefinition = single
