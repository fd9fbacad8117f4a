import { expect, test } from 'vitest'
import { readDocument } from '../openapi/fixture.ts'
import { application } from './sales.ts'

const applications = { app: application }

/** Returns the relations that a document offers for the orders, and the members of their items. */
function related(...roles: readonly string[]) {
  const { document, schema } = readDocument({ applications }, { roles })
  const offered = ['/app/orders', '/app/orders/{orderId}'].map((path) => {
    const { parameters = [] } = document.paths[path]?.['get'] as {
      parameters?: { name?: string; schema?: { items?: { enum?: string[] } } }[]
    }
    return parameters.find(({ name }) => name === '$expand')?.schema?.items?.enum
  })
  return { offered, item: schema('OrdersItem').properties, row: schema('OrdersRow').properties }
}

test('a document describes related items as they are sent: by default, and without relations', () => {
  const { schema } = readDocument({ applications }, { roles: ['Auditor'] })
  const { properties, required } = schema('CustomersRelated')
  expect(Object.keys(properties)).toEqual(['id', 'name', 'city', 'credit', 'label'])
  expect(required).toEqual(Object.keys(properties))
})

test('a document offers the relations whose items its readers may see', () => {
  const whole = related('Auditor')
  const all = ['customer', 'payer', 'lines']
  expect(whole.offered).toEqual([all, all])
  for (const schema of [whole.item, whole.row]) {
    expect(schema).toMatchObject({
      customer: { anyOf: [{ $ref: '#/components/schemas/CustomersRelated' }, { type: 'null' }] },
      lines: {
        required: ['items', 'more'],
        properties: {
          items: { maxItems: 20, items: { $ref: '#/components/schemas/LinesRelated' } },
        },
      },
    })
  }
  const less = related()
  expect(less.offered).toEqual([
    ['customer', 'payer'],
    ['customer', 'payer'],
  ])
  expect(less.item).not.toHaveProperty('lines')
})
