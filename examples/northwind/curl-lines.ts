import { anonymous, type Service } from 'rowgate'
import type { applications } from './service.ts'

/** A line to copy, and what it shows. */
export interface CurlLine {
  readonly shows: string
  readonly line: string
}

const line = { orderId: 10427, productId: 75, quantity: 5 }

/** Ready requests for a shell, each on the data that the service holds right now. */
export async function curlLines(
  service: Service<typeof applications>,
  address: string,
): Promise<readonly CurlLine[]> {
  const get = (path: string) => `curl '${address}/${path}'`
  const post = (path: string, body: object, header = '') =>
    `curl '${address}/${path}' ${header}-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  // The Change event checks a line that is not stored: here it tells what the warning will be called.
  const details = service.as(anonymous).collection('sales', 'order-details')
  const { validations } = await details.change(line)
  const ids = validations.flatMap(({ validationId }) => validationId ?? []).map((id) => `"${id}"`)
  const header = `-H 'X-Svc-Ignore-Warnings: ${ids.join(', ')}' `
  return [
    { shows: 'a list', line: get('customers') },
    { shows: 'a search', line: get('products?$q=herring') },
    {
      shows: 'the last five by name with all fields, counted',
      line: get('customers?$count=true&$limit=5&$sort=-companyName&$fields=*'),
    },
    { shows: 'an item with a composite key', line: get('order-details/10248,11') },
    {
      shows: 'a value that is too long',
      line: post('customers/ALFKI', { contactName: 'Sunniva Marie Charlotte Nygårdsæther' }),
    },
    { shows: 'a warning: not enough in stock', line: post('order-details', line) },
    { shows: 'the same again, confirmed', line: post('order-details', line, header) },
    {
      shows: 'and taken back',
      line: `curl -X DELETE '${address}/order-details/${line.orderId},${line.productId}'`,
    },
  ]
}
