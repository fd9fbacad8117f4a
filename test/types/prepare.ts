// Checked by the compiler only: handlers read what `prepare` of their event returns.
import { defineCollection, integer, text, warning, type PrepareContext } from 'rowgate'
import { prepareCall } from 'rowgate/consume'

interface Credit {
  readonly limit: number
}

declare function creditOf(customer: string | number | null | undefined): Promise<Credit>

const data = {
  key: 'orderId',
  fields: { orderId: integer(), customer: text(), limit: integer() },
} as const

export const orders = defineCollection(data, {
  validations: [
    warning('credit', {
      // @ts-expect-error the result of prepare is not typed in a validation
      check: (_item, { prepared }) => (prepared.limit === 0 ? 'No credit.' : undefined),
    }),
  ],
  events: {
    Insert: {
      prepare: ({ values, error }) => {
        // @ts-expect-error no such field
        error('No.', 'nope')
        const names: keyof typeof values = 'customer'
        return creditOf(values[names])
      },
      before: ({ item, prepared }) => {
        item.limit = prepared.limit
        // @ts-expect-error the result has another type
        item.customer = prepared.limit
      },
      after: ({ prepared }) => {
        const { limit }: Credit = prepared
        return limit > 0 ? undefined : undefined
      },
    },
    Update: {
      // In any order, since the call of prepareCall is checked first.
      before: ({ item, prepared }) => {
        item.limit = prepared?.limit ?? 0
        // @ts-expect-error undefined after a failed call
        item.limit = prepared.limit
      },
      prepare: prepareCall(
        async ({ key, values }) => {
          const id: number = key
          return await creditOf(values.customer ?? id)
        },
        { onFailure: 'warn' },
      ),
    },
    Delete: {
      before: ({ prepared }) => {
        const none: undefined = prepared
        return none
      },
    },
  },
})

export const shared = defineCollection(data, {
  events: {
    Save: {
      prepare: prepareCall(async ({ key, values }) => {
        const id: number | null = key
        return await creditOf(values.customer ?? id)
      }),
      before: ({ item, prepared }) => {
        item.limit = prepared.limit
      },
    },
    Insert: {
      after: ({ prepared, information }) => {
        information(`The limit is ${prepared.limit}.`, 'limit')
      },
    },
    Delete: {
      // @ts-expect-error a Delete has no values
      prepare: ({ values }) => creditOf(String(values)),
    },
  },
})

export function wrong(): void {
  // @ts-expect-error an unknown way to treat a failure
  prepareCall(() => creditOf('a'), { onFailure: 'ignore' })
  prepareCall((context: PrepareContext) => {
    // @ts-expect-error writes need the transaction
    return creditOf(String(context.collection))
  })
}
