import { createService, type Service } from 'rowgate'
import { administration, type Administration } from 'rowgate/administration'
import { adminConsole } from 'rowgate/console'
import {
  createDeployment,
  definitionBuilder,
  type Deployment,
  type Solution,
} from 'rowgate/deployment'
import { explorer } from 'rowgate/explorer'
import { openapi } from 'rowgate/openapi'
import { apiKeys, type ApiKeyProperties } from 'rowgate/security'
import { sqliteSchema, sqliteStorage } from 'rowgate/sqlite'
import { categories, products, suppliers } from './catalogue.ts'
import { customers } from './customers.ts'
import { orderDetails } from './order-details.ts'
import { orders } from './orders.ts'
import { employees, shippers } from './staff.ts'

/** The applications of the trader. */
export const applications = {
  sales: {
    // Each after those that it refers to: the sample data is stored in this order.
    collections: {
      categories,
      suppliers,
      products,
      customers,
      employees,
      shippers,
      orders,
      'order-details': orderDetails,
    },
  },
}

/** The solution that releases are built from. */
export const northwind: Solution = {
  solutionId: 'northwind',
  name: 'Northwind',
  version: '1.0',
  applications,
}

/** What the document of the service says besides the definition. */
const description = openapi({
  title: 'Northwind',
  version: '1.0',
  description: 'Customers, orders and products of a trader.',
  contact: { name: 'Northwind', url: 'https://northwind.example.com' },
  license: { name: 'MIT', identifier: 'MIT' },
})

/** The service of the trader. */
export type Northwind = Service<
  typeof applications & Deployment['applications'] & Administration['applications']
>

/** Creates the service of the trader over a database file. Every request needs a key. */
export function createNorthwind(
  file: string,
  deployment: Deployment,
  properties: Partial<ApiKeyProperties> = {},
): Northwind {
  return createService({
    applications: {
      ...applications,
      ...deployment.applications,
      // For callers with the role Administrator.
      ...administration({ deployment }).applications,
    },
    storage: sqliteStorage(file, { ensureSchema: true }),
    security: apiKeys({ name: 'API Key', properties }),
    pages: {
      openapi: description,
      explorer: explorer({ document: 'openapi' }),
      console: adminConsole({ title: 'Northwind' }),
    },
    report: (observation) => console.error(observation),
  })
}

/** Creates the deployment of the trader. `workers` is the number of workers in this process. */
export function createReleases(workers: number): Deployment {
  return createDeployment({
    solutions: [northwind],
    builder: definitionBuilder({ ddl: { sqlite: sqliteSchema } }),
    environment: {
      environmentId: 'northwind-sample',
      name: 'Sample',
      url: 'https://northwind.example.com',
      supportsInstallOnDeploy: true,
    },
    workers,
    watch: (news) => {
      if (news.type === 'failed') console.error(news)
    },
  })
}
