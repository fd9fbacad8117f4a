// Checked by the compiler only: the functions that serve a collection are typed by its definition.
import { defineCollection, integer, json, text, uuid } from 'rowgate'

const fields = {
  line: integer(),
  order: text(),
  number: uuid({ readOnly: true }),
  state: text({ enumeration: ['open', 'done'], required: true }),
  note: text(),
  extra: json(),
}
const line = {
  line: 1,
  order: 'x',
  number: '',
  state: 'open' as const,
  note: null,
  extra: null,
}

export const lines = defineCollection(
  { key: ['order', 'line'], fields },
  {
    serve: {
      timeout: 1000,
      filter: ({ conditions, sort, search, fields: names, limit, principal }) => {
        const state: 'open' | 'done' | null | undefined = conditions.state
        // @ts-expect-error an unknown field
        expectTyped(conditions.sate)
        // @ts-expect-error json fields have no conditions
        expectTyped(conditions.extra)
        // @ts-expect-error an unknown field
        expectTyped(sort[0]?.field === 'sate')
        // @ts-expect-error an unknown field
        expectTyped(names.includes('sate'))
        expectTyped(state, search?.text.length, search?.fields.includes('note'), limit)
        expectTyped(principal.user)
        // Literal values keep their types in callbacks.
        return [1].map((number) => ({ ...line, line: number, state: 'done' }))
      },
      get: async ({ key: [order, number], find }) => {
        const [found] = await find('lines', { order, line: number })
        return found === undefined ? undefined : line
      },
      insert: ({ item, reject }) => {
        // @ts-expect-error the function supplies a read-only field
        item.number.toUpperCase()
        item.order.toUpperCase()
        // @ts-expect-error an unknown field
        if (item.note === null) reject('No note.', 'nota')
        return { ...line, ...item, number: item.number ?? '' }
      },
      update: ({ key, changes, stored }) => {
        key[0].toUpperCase()
        // @ts-expect-error an unknown field
        expectTyped(changes.sate)
        return { ...stored, ...changes }
      },
      delete: async ({ stored }) => Promise.resolve(stored.state === 'open'),
    },
  },
)

defineCollection({ key: 'line', fields }, { serve: { filter: () => ({ page: [line], count: 1 }) } })
// @ts-expect-error an unknown function
defineCollection({ key: 'line', fields }, { serve: { find: () => [line] } })
// @ts-expect-error an item without one of its fields
defineCollection({ key: 'line', fields }, { serve: { filter: () => [{ line: 1 }] } })
defineCollection(
  { key: 'line', fields },
  // @ts-expect-error a misspelled field
  { serve: { filter: () => [line].map(({ note, ...rest }) => ({ ...rest, nota: note })) } },
)
// @ts-expect-error a value of another type
defineCollection({ key: 'line', fields }, { serve: { get: () => ({ ...line, line: '1' }) } })
// @ts-expect-error a delete that does not say whether the item existed
defineCollection({ key: 'line', fields }, { serve: { delete: () => Promise.resolve() } })

// A field of a collection without key has no value unless it is required.
defineCollection(
  { singleton: true, fields: { name: text({ required: true }), note: text() } },
  { serve: { get: () => ({ name: 'x', note: null }) } },
)
defineCollection(
  { singleton: true, fields: { name: text({ required: true }), note: text() } },
  // @ts-expect-error a required field without a value
  { serve: { get: () => ({ name: null, note: null }) } },
)

function expectTyped(..._values: readonly unknown[]): void {
  // Using a value is enough for the compiler.
}
