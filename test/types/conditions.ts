// Checked by the compiler only: conditions are typed by the definition.
import { defineCollection, integer, text, type CollectionAccess } from 'rowgate'
import type { lines } from './definition.ts'

const named = defineCollection({ fields: { id: integer(), or: text(), not: integer() } })

export async function conditions(
  access: CollectionAccess<typeof lines>,
  other: CollectionAccess<typeof named>,
): Promise<void> {
  await access.filter({ price: { gte: '1', lt: '2' }, state: { in: ['open', null] } })
  await access.filter({ or: [{ product: { startsWith: 'a' } }, { not: { orderId: { gt: 1 } } }] })
  await access.filter({ not: [{ state: 'open' }], and: [{ product: { isNull: false } }] })
  const number: number = await access.count({ price: { ne: null } })
  const isThere: boolean = await access.exists({ orderId: { notIn: [number] } })
  console.log(isThere)
  // @ts-expect-error an unknown operator
  await access.count({ price: { gtt: '1' } })
  // @ts-expect-error a value of another type
  await access.count({ price: { gte: 1 } })
  // @ts-expect-error a value that the field can't have
  await access.count({ state: { in: ['closed'] } })
  // @ts-expect-error null has no order
  await access.count({ price: { lt: null } })
  // @ts-expect-error not a text field
  await access.count({ orderId: { contains: '1' } })
  // @ts-expect-error not a list
  await access.count({ orderId: { in: 1 } })
  // @ts-expect-error an unknown field
  await access.count({ prise: { gte: '1' } })
  // @ts-expect-error an unknown field within a group
  await access.count({ or: [{ prise: '1' }] })
  // @ts-expect-error or is a list
  await access.count({ or: { price: '1' } })
  // @ts-expect-error json has no conditions
  await access.count({ extra: { eq: 1 } })
  // @ts-expect-error only row rules go through other collections
  await access.count({ through: { field: 'orderId', collection: 'orders' } })

  await other.filter({ or: 'x', not: { gt: 1 } })
  await other.filter({ or: [{ id: 1 }], not: [{ id: 2 }] })
  // @ts-expect-error the field `not` has no such operator
  await other.filter({ not: { id: 1 } })
}
