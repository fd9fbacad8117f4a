import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  text,
  warning,
  type Page,
  type Service,
  type ServiceOptions,
} from '../../src/index.ts'
import { explorer } from '../../src/explorer/explorer.ts'
import { pageSource } from '../../src/pages/page.ts'

const customers = defineCollection({
  key: 'customerId',
  fields: {
    customerId: text({ maxLength: 5 }),
    companyName: text({ required: true, maxLength: 40 }),
    discount: integer(),
  },
  validations: [
    warning<{ readonly discount: number | null }>('discount', {
      field: 'discount',
      check: ({ discount }) =>
        discount !== null && discount > 20 ? 'A discount above 20 % is unusual.' : undefined,
    }),
  ],
})

const applications = { sales: { collections: { customers } } }

const customer = { customerId: 'ALFKI', companyName: 'Alfheim Futterhof', discount: 25 }
const item = { type: 'object', additionalProperties: true }
const success = { description: 'Success.', content: { 'application/json': { schema: item } } }
const operation = { tags: ['customers'], responses: { 200: success } }
const ignoreWarnings = {
  name: 'X-Svc-Ignore-Warnings',
  in: 'header',
  description: 'The ids of the confirmed warnings.',
  schema: { type: 'string' },
}
const body = {
  required: true,
  content: { 'application/json': { schema: item, examples: { item: { value: customer } } } },
}

/** What the explorer shows: of a server that is not there, because the page knows where the service is. */
const description = {
  openapi: '3.1.1',
  info: { title: 'Trader', version: '1.0', description: 'Customers of a trader.' },
  servers: [{ url: '/elsewhere' }],
  tags: [{ name: 'customers', description: 'The customers.' }],
  paths: {
    '/sales/customers': {
      get: {
        ...operation,
        operationId: 'customersList',
        summary: 'List customers',
        parameters: [
          { name: '$limit', in: 'query', schema: { type: 'integer', minimum: 0 } },
          {
            name: '$sort',
            in: 'query',
            style: 'form',
            explode: false,
            schema: {
              type: 'array',
              items: { type: 'string', enum: ['customerId', '-customerId', 'companyName'] },
            },
          },
        ],
      },
      post: {
        ...operation,
        operationId: 'customersInsert',
        summary: 'Insert a customer',
        parameters: [ignoreWarnings],
        requestBody: body,
      },
    },
  },
}

/** Serves the description to callers who are authenticated. */
const openapi: Page = {
  [pageSource]: {
    open: () => ({
      '.json': {
        access: 'caller',
        content: () => ({ mediaType: 'application/json', text: JSON.stringify(description) }),
      },
    }),
  },
}

/** The service of a trader with an explorer, by default with open access. */
export type Trader = Service<typeof applications>

/** Creates the service of a trader with an explorer. A discount above 20 has to be confirmed. */
export function openTrader(
  security: ServiceOptions<typeof applications>['security'] = openAccess(),
): Trader {
  return createService({
    applications,
    storage: memoryStorage(),
    security,
    pages: { openapi, explorer: explorer({ document: 'openapi' }) },
  })
}
