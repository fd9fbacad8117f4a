import { date, decimal, defineCollection, error, integer, text } from 'rowgate'
import { orderDetails } from './order-details.ts'

const shipping = { includeByDefault: false } as const

export const orders = defineCollection(
  {
    key: 'orderId',
    description: 'One book for the whole house: whoever picks up the telephone finds every order.',
    eventRoles: { Delete: ['Office'] },
    fields: {
      orderId: integer({ generated: 'database', readOnly: true, example: 10248 }),
      customerId: text({ required: true, maxLength: 5, references: 'customers', example: 'GELSO' }),
      employeeId: integer({ references: 'employees', example: 2 }),
      orderDate: date({ required: true, generated: 'now' }),
      requiredDate: date({ example: '2026-02-28' }),
      shippedDate: date(),
      shipperId: integer({ references: 'shippers' }),
      freight: decimal({ precision: 19, scale: 4, minimum: '0', default: '0' }),
      shipName: text({ ...shipping, maxLength: 40 }),
      shipCity: text({ ...shipping, maxLength: 15 }),
      shipRegion: text({ ...shipping, maxLength: 15 }),
      shipPostalCode: text({ ...shipping, maxLength: 10 }),
      shipCountry: text({ ...shipping, maxLength: 15 }),
    },
    index: [['-orderDate', '-orderId']],
    expand: { customer: 'customerId', lines: { from: 'order-details' } },
    operators: { orderDate: ['gte', 'lt'], 'customer.country': ['eq'] },
  },
  {
    validations: [
      error('required-after-order', {
        field: 'requiredDate',
        check: (order) =>
          isBefore(order.requiredDate, order.orderDate)
            ? 'The goods cannot be required before they are ordered.'
            : undefined,
      }),
      error('shipped-after-order', {
        field: 'shippedDate',
        check: (order) =>
          isBefore(order.shippedDate, order.orderDate)
            ? 'The goods cannot be shipped before they are ordered.'
            : undefined,
      }),
    ],
    events: {
      Delete: {
        // Deleting a line returns its quantity to the stock, in the transaction of this event.
        before: async (event) => {
          const { orderId, shippedDate } = event.stored
          if (shippedDate !== null) {
            event.reject(`The order was shipped on ${shippedDate} and cannot be deleted.`)
          }
          await event.collection(orderDetails).deleteMany({ orderId })
        },
      },
    },
    userDefinedEvents: {
      /** Ships an order. */
      ship: async (event, { orderId, shipperId, shippedDate = today() }: Shipment) => {
        const order = await event.own.get(orderId)
        if (order === undefined) return event.reject(`Order ${orderId} does not exist.`)
        if (order.shippedDate !== null) {
          return event.reject(`The order was already shipped on ${order.shippedDate}.`)
        }
        const saved = await event.own.update(orderId, { shippedDate, shipperId })
        if (saved === undefined) return event.reject(`Order ${orderId} does not exist.`)
        if (!saved.rejected) return saved.item
        for (const { message, field } of saved.validations) event.error(message, field)
        return order
      },
    },
  },
)

interface Shipment {
  readonly orderId: number
  readonly shipperId: number
  readonly shippedDate?: string
}

// Strings of the form YYYY-MM-DD sort by day.
function isBefore(day: string | null, other: string | null): boolean {
  return day !== null && other !== null && day < other
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}
