// Checked by the compiler only: the options of pages, and cursors in process.
import { defineCollection, integer, type CollectionAccess } from 'rowgate'

const orders = defineCollection({
  key: 'orderId',
  cursor: true,
  count: 'estimated',
  fields: { orderId: integer() },
})

// @ts-expect-error cursor is true or false
defineCollection({ key: 'orderId', fields: { orderId: integer() }, cursor: 'yes' })
// @ts-expect-error there is no other kind of count
defineCollection({ key: 'orderId', fields: { orderId: integer() }, count: 'rough' })

export async function allOrders(access: CollectionAccess<typeof orders>): Promise<number> {
  let read = 0
  for (let after: string | undefined; ;) {
    const page = await access.filter({}, { limit: 100, ...(after !== undefined && { after }) })
    read += page.items.length
    after = page.next
    if (after === undefined) return read
  }
}

export async function mistakes(access: CollectionAccess<typeof orders>): Promise<void> {
  // @ts-expect-error a cursor is a string
  await access.filter({}, { after: 7 })
  const { next } = await access.filter({}, { limit: 1 })
  // @ts-expect-error the last page has none
  next.toUpperCase()
}
