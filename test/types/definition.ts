// Checked by the compiler only: what has to compile, and what must not.
import {
  boolean,
  date,
  decimal,
  defineCollection,
  error,
  instant,
  integer,
  json,
  text,
  warning,
  type CollectionDefinition,
  type Conditions,
  type InsertValues,
  type Item,
  type Key,
} from 'rowgate'

export const lines = defineCollection(
  {
    key: ['orderId', 'product'],
    fields: {
      orderId: integer(),
      product: text(),
      state: text({ enumeration: ['open', 'done'], default: 'open' }),
      price: decimal({ precision: 5, scale: 2, required: true }),
      extra: json(),
    },
  },
  {
    validations: [
      warning('state', {
        field: 'state',
        check: (item, { find }) => {
          const state: 'open' | 'done' | null = item.state
          return find.name === state ? undefined : state
        },
      }),
      error('price', { check: async (item) => (item.price === null ? 'no price' : undefined) }),
      // @ts-expect-error a rule about a field that does not exist
      error('nothing', { field: 'nope', check: () => null }),
      // @ts-expect-error a rule that reads a field that does not exist
      error('nothing else', { check: (item) => item.nope }),
    ],
    events: {
      Insert: {
        before(event) {
          event.item.state = 'done'
          // @ts-expect-error no such field
          event.item.nope = 1
          // @ts-expect-error not one of the enumeration
          event.item.state = 'closed'
        },
      },
      Filter: {
        before(event) {
          event.where({ state: 'open' })
          // @ts-expect-error no such field
          event.where({ nope: 1 })
        },
      },
    },
    userDefinedEvents: {
      approve: async (event, input: { readonly by: string }) => event.own.get([1, input.by]),
    },
  },
)

type Line = typeof lines

export const key: Key<Line> = [1, 'a']
// @ts-expect-error a key with a part missing
export const partialKey: Key<Line> = [1]
export const item: Item<Line> = {
  orderId: 1,
  product: 'x',
  state: 'open',
  price: '1.00',
  extra: { deep: [1] },
}
// @ts-expect-error a required field is never null
export const withoutPrice: Item<Line>['price'] = null
export const values: InsertValues<Line> = { orderId: 1, product: 'x', price: '1' }
// @ts-expect-error price is required
export const less: InsertValues<Line> = { orderId: 1, product: 'x' }
export const conditions: Conditions<Line> = { state: null, price: '1.00' }
// @ts-expect-error json fields have no equality
export const jsonCondition: Conditions<Line> = { extra: {} }
// @ts-expect-error an option that does not exist
export const misspelt = text({ maxLenght: 5 })
// @ts-expect-error precision and scale must be given
export const noPrecision = decimal()
// @ts-expect-error the key names no field
export const wrongKey = defineCollection({ key: 'nope', fields: { a: text() } })

const stored = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    status: text({ enumeration: ['open', 'done'], required: true, default: 'database' }),
    amount: decimal({ precision: 9, scale: 2, storedAs: 'real', default: 'database' }),
    paid: boolean({ storedAs: 'Y/N', default: 'database' }),
    at: instant({ storedAs: 'unixSeconds' }),
  },
})
export const columnDefaults: InsertValues<typeof stored> = { id: 1 }
export const storedStatus: Item<typeof stored>['status'] = 'open'
// @ts-expect-error the default is a value of the field, not of its column
export const columnDefault: InsertValues<typeof stored> = { id: 1, status: 'database' }
// @ts-expect-error a stored form of another type
export const wrongForm = date({ storedAs: 'hex' })
// @ts-expect-error a stored form that does not exist
export const unknownForm = boolean({ storedAs: 'yes/no' })

export const anyCollections: readonly CollectionDefinition[] = [lines]
