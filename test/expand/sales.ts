import {
  computed,
  decimal,
  defineCollection,
  integer,
  json,
  text,
  type ApplicationDefinition,
} from '../../src/entries/index.ts'
import { visitor } from '../kit/visitors.ts'

const customers = defineCollection(
  {
    key: 'id',
    fields: {
      id: integer(),
      name: text(),
      city: text(),
      note: text({ includeByDefault: false }),
      credit: integer({ readableBy: ['Auditor'] }),
    },
    expand: { orders: { from: 'orders', reference: 'customerId', sort: '-orderId', limit: 2 } },
  },
  {
    rows: { equal: { city: { attribute: 'region' } }, exceptRoles: ['Auditor'] },
    computed: {
      label: computed(text({ includeByDefault: true }), ['name'], ({ name }) => `<${name ?? ''}>`),
    },
  },
)
const orders = defineCollection({
  key: 'orderId',
  fields: {
    orderId: integer(),
    customerId: integer({ references: 'customers' }),
    payerId: integer({ references: 'customers' }),
    total: decimal({ precision: 9, scale: 2 }),
    data: json(),
    discount: integer({ readableBy: ['Auditor'] }),
  },
  cursor: true,
  concurrency: { ifMatch: 'optional' },
  expand: { customer: 'customerId', payer: 'payerId', lines: { from: 'lines' } },
  operators: { 'customer.name': ['eq'] },
})
const lines = defineCollection({
  key: ['orderId', 'lineNo'],
  fields: {
    orderId: integer({ references: 'orders' }),
    lineNo: integer(),
    product: text(),
    price: integer(),
  },
  eventRoles: { Filter: ['Auditor', 'Sales'] },
})
/** Orders with relations in both directions, with row rules, hidden fields and computed fields. */
export const application: ApplicationDefinition = { collections: { customers, orders, lines } }

/** Reads everything. */
export const auditor = visitor('ada', { roles: 'Auditor' })
/** Reads the customers of one city. */
export const clerk = visitor('carl', { roles: 'Sales', region: 'Oslo' })
/** Does not read lines. */
export const guest = visitor('gus', { region: 'Oslo' })
/** Has no region, which the row rule of the customers needs. */
export const stranger = visitor('sam', { roles: 'Sales' })
