import { defineCollection, integer, text } from '../../src/entries/index.ts'

const counts = { key: 'name', fields: { name: text(), value: integer(), by: text() } } as const

/** A collection whose updates count, by how their handler does. */
export const counting = {
  'a synchronous handler': defineCollection(counts, {
    events: {
      Update: {
        before: ({ item, stored }) => {
          item.value = (stored.value ?? 0) + 1
        },
      },
    },
  }),
  'an asynchronous handler': defineCollection(counts, {
    events: {
      Update: {
        before: async ({ item, stored }) => {
          await new Promise((resolve) => setTimeout(resolve, 2))
          item.value = (stored.value ?? 0) + 1
        },
      },
    },
  }),
}

/** How the handler of {@link counting} counts. */
export type Handlers = keyof typeof counting
