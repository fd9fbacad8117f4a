import { createService, type Service } from 'rowgate'
import { apiKeys, type ApiKeyProperties } from 'rowgate/security'
import { sqliteStorage } from 'rowgate/sqlite'
import { categories, products, suppliers } from './catalogue.ts'
import { customers } from './customers.ts'
import { orderDetails } from './order-details.ts'
import { orders } from './orders.ts'
import { employees, shippers } from './staff.ts'

/** The applications of the trader: one, called sales. */
export const applications = {
  sales: {
    collections: {
      customers,
      orders,
      'order-details': orderDetails,
      products,
      categories,
      suppliers,
      employees,
      shippers,
    },
  },
}

/** Publishes the database file of the trader. Every request needs a key. */
export function createNorthwind(
  file: string,
  properties: Partial<ApiKeyProperties> = {},
): Service<typeof applications> {
  return createService({
    applications,
    storage: sqliteStorage(file, { ensureSchema: true }),
    security: apiKeys({ name: 'API Key', properties }),
    report: (observation) => console.error(observation),
  })
}
