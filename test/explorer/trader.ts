import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  text,
  warning,
  type Service,
  type ServiceOptions,
} from '../../src/entries/index.ts'
import { explorer } from '../../src/entries/explorer.ts'
import { openapi } from '../../src/entries/openapi.ts'

const customers = defineCollection({
  key: 'customerId',
  fields: {
    customerId: text({ maxLength: 5, example: 'ALFKI' }),
    companyName: text({ required: true, maxLength: 40, example: 'Alfheim Futterhof' }),
    discount: integer({ example: 25 }),
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
    pages: {
      openapi: openapi({ title: 'Trader', description: 'Customers of a trader.' }),
      explorer: explorer({ document: 'openapi' }),
    },
  })
}
