import { decimal, defineCollection, error, information, integer, warning } from 'rowgate'
import type { HandlerContext } from 'rowgate'
import { products } from './catalogue.ts'

export const orderDetails = defineCollection(
  {
    key: ['orderId', 'productId'],
    table: 'order_details',
    fields: {
      orderId: integer({ references: 'orders', example: 10248 }),
      productId: integer({ references: 'products', example: 11 }),
      unitPrice: decimal({
        precision: 19,
        scale: 4,
        minimum: '0',
        description: 'Without one: the price of the product.',
      }),
      quantity: integer({ required: true, minimum: 1, default: 1, example: 12 }),
      discount: decimal({
        precision: 3,
        scale: 2,
        required: true,
        minimum: '0',
        maximum: '1',
        default: '0',
      }),
    },
  },
  {
    validations: [
      error('product-on-sale', {
        field: 'productId',
        events: ['Insert'],
        check: async ({ productId }, { find }) => {
          const [product] = await find(products, { productId })
          return product?.discontinued ? `${product.productName} is discontinued.` : undefined
        },
      }),
      warning('enough-in-stock', {
        field: 'quantity',
        check: async ({ productId, quantity }, { find, stored }) => {
          const [product] = await find(products, { productId })
          if (product === undefined || quantity === null) return undefined
          const available = Math.max(0, product.unitsInStock + (stored?.quantity ?? 0))
          if (quantity <= available) return undefined
          return `Only ${available} units of ${product.productName} are in stock.`
        },
      }),
      information('discount-approval', {
        field: 'discount',
        check: ({ discount }) =>
          Number(discount) > 0.15
            ? 'A discount above 15 % needs the approval of the sales manager.'
            : undefined,
      }),
    ],
    events: {
      Insert: {
        before: takePrice,
        after: (event) => takeFromStock(event, event.item.productId, event.item.quantity),
      },
      Update: {
        before: takePrice,
        after: (event) => {
          const before = event.stored?.quantity ?? 0
          return takeFromStock(event, event.item.productId, event.item.quantity - before)
        },
      },
      Delete: {
        after: (event) => takeFromStock(event, event.item.productId, -event.item.quantity),
      },
    },
  },
)

async function takePrice({ item, collection }: Pricing): Promise<void> {
  if (item.unitPrice !== null || item.productId === null) return
  const product = await collection(products).get(item.productId)
  item.unitPrice = product?.unitPrice ?? null
}

interface Pricing extends HandlerContext {
  readonly item: { readonly productId: number | null; unitPrice: string | null }
}

/**
 * Changes the stock in the transaction of the event. It uses `system`, because a salesperson has no right to
 * change products.
 */
async function takeFromStock(
  event: HandlerContext,
  productId: number,
  units: number,
): Promise<void> {
  if (units === 0) return
  const stock = event.system.collection(products)
  const product = await stock.get(productId)
  if (product === undefined) return
  const unitsInStock = product.unitsInStock - units
  const moved = await stock.update(productId, { unitsInStock })
  if (moved?.rejected) event.reject(moved.message)
  if (units > 0 && unitsInStock < product.reorderLevel) {
    const state = `${unitsInStock} units, below the reorder level of ${product.reorderLevel}`
    event.information(`The stock of ${product.productName} is now ${state}.`, 'quantity')
  }
}
