// Checked by the compiler only: computed fields.
import {
  boolean,
  computed,
  decimal,
  defineCollection,
  integer,
  text,
  withBehaviour,
  type CollectionDefinition,
  type Item,
} from 'rowgate'

const people = defineCollection(
  {
    key: 'id',
    fields: {
      id: integer(),
      first: text({ required: true }),
      last: text(),
      rank: text({ enumeration: ['new', 'gold'] }),
    },
  },
  {
    computed: {
      name: computed(text(), ['first', 'last'], ({ first, last }) => {
        const required: string = first
        const optional: string | null = last
        return `${required} ${optional ?? ''}`
      }),
      isGold: computed(boolean({ required: true }), ['rank'], ({ rank }) => {
        const known: 'new' | 'gold' | null = rank
        return known === 'gold'
      }),
      level: computed(text({ enumeration: ['low', 'high'] }), ['id'], ({ id }) =>
        id > 10 ? 'high' : null,
      ),
      // @ts-expect-error no such field
      wrongName: computed(text(), ['nope'], () => 'x'),
      // @ts-expect-error a value of the wrong type
      wrongType: computed(integer(), ['first'], ({ first }) => first),
      // @ts-expect-error not one of the enumeration
      wrongValue: computed(text({ enumeration: ['low'] }), ['id'], () => 'high'),
      // @ts-expect-error a required field is never null
      wrongNull: computed(text({ required: true }), ['id'], () => null),
      // @ts-expect-error functions are synchronous
      wrongPromise: computed(text(), ['id'], async () => Promise.resolve('x')),
      // @ts-expect-error only the fields that are needed are visible
      wrongNeed: computed(text(), ['first'], ({ last }) => last),
    },
  },
)

// Items in process have the stored fields only.
export const item: Item<typeof people> = { id: 1, first: 'Ada', last: null, rank: 'new' }
// @ts-expect-error a computed field is not part of items in process
export const name: Item<typeof people>['name'] = 'Ada'

export const later: CollectionDefinition = withBehaviour(people, {
  computed: {
    price: computed(decimal({ precision: 10, scale: 2 }), ['id'], ({ id }) => id.toFixed(2)),
  },
})
