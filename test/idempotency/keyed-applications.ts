import { defineCollection, integer, text } from '../../src/entries/index.ts'

const effects = defineCollection({
  key: 'id',
  fields: { id: integer({ generated: 'database' }), of: text({ required: true }) },
  index: [['of']],
})

const orders = defineCollection(
  {
    key: 'id',
    fields: { id: integer({ generated: 'database' }), title: text({ required: true }) },
  },
  {
    events: {
      Insert: {
        after: async ({ item, collection, reject }) => {
          await collection(effects).insert({ of: item.title })
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 8))
          if (item.title.startsWith('rejected')) reject('Not this one.')
        },
      },
    },
  },
)

/** Orders whose inserts have an effect each; those with a title that begins with `rejected` have none. */
export const keyedApplications = {
  app: { collections: { orders, effects }, idempotencyKeys: true },
} as const
