import { defineCollection, double, instant, integer, text } from '../../../src/entries/index.ts'
import { publishCollection } from '../../../src/entries/storage.ts'

/** Values that depend on the settings of a connection. */
export const measurements = publishCollection(
  'app',
  'measurements',
  defineCollection({
    key: 'id',
    fields: { id: integer(), amount: double(), moment: instant(), note: text() },
  }),
)

/** The options of a transaction that writes. */
export const writing = { mode: 'write', brief: false } as const
