import { system } from 'rowgate'
import type { NewKeys } from './people.ts'
import type { Northwind } from './service.ts'

/** A curl line and its description. */
export interface Line {
  readonly shows: string
  readonly line: string
}

const goods = { orderId: 10427, productId: 75, quantity: 5 }

/** Returns curl lines that fit the current data. */
export async function curlLines(
  service: Northwind,
  address: string,
  { KEY = '$KEY', SAMUELS_KEY = '$SAMUELS_KEY' }: NewKeys,
): Promise<readonly Line[]> {
  const get = (path: string, key = KEY) => `curl '${address}/${path}' -H "X-API-Key: ${key}"`
  const post = (path: string, body: object, key = KEY) =>
    `${get(path, key)} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  const confirmed = `-H 'X-Svc-Ignore-Warnings: ${await warningsOf(service)}'`
  return [
    { shows: 'without a key', line: `curl -i '${address}/customers'` },
    { shows: 'a list', line: get('customers') },
    { shows: 'a search', line: get('products?$q=herring') },
    {
      shows: 'the last five by name with all fields, counted',
      line: get('customers?$count=true&$limit=5&$sort=-companyName&$fields=*'),
    },
    {
      shows: 'the orders for Germany since March, each with its customer and its lines',
      line: get('orders?customer.country=Germany&orderDate.gte=2026-03-01&$expand=customer,lines'),
    },
    { shows: 'an item with a composite key', line: get('order-details/10248,11') },
    {
      shows: 'a value that is too long',
      line: post('customers/ALFKI', { contactName: 'Sunniva Marie Charlotte Nygårdsæther' }),
    },
    { shows: 'a warning: not enough in stock', line: post('order-details', goods) },
    {
      shows: 'the same again, confirmed',
      line: `${post('order-details', goods)} ${confirmed}`,
    },
    {
      shows: 'and taken back',
      line: `${get(`order-details/${goods.orderId},${goods.productId}`)} -X DELETE`,
    },
    {
      shows: 'samuel sees the customers of his country, and counts no others',
      line: get('customers?$count=true&$fields=companyName,country', SAMUELS_KEY),
    },
    {
      shows: 'a customer of another country is not there for him',
      line: get('customers/ALFKI', SAMUELS_KEY),
    },
    {
      shows: 'and products are not his to change',
      line: post('products/1', { unitPrice: '1' }, SAMUELS_KEY),
    },
  ]
}

// The Change event runs the validations without storing, and returns the id of the warning.
async function warningsOf(service: Northwind): Promise<string> {
  const details = service.as(system).collection('sales', 'order-details')
  const { validations } = await details.change(goods)
  const ids = validations.flatMap(({ validationId }) => validationId ?? [])
  return ids.map((id) => `"${id}"`).join(', ')
}
