import { keyedGoals, type Scenario } from '../scenario.ts'
import { pageProbe } from './reads.ts'

const withoutCredentials = {
  status: 401,
  body: { message: 'Valid credentials are required.', validations: [], status: 401 },
}

/** A page with an API key, in each server library beside a handler written by hand in the same one. */
export const bindings: Scenario = {
  name: 'bindings',
  title: 'Bindings: read a page with an API key, 10 of 91 rows, 4 fields',
  servers: [
    'rowgate-keys',
    'rowgate-keys-uncached',
    'node-http-keys',
    'rowgate-fastify',
    'rowgate-fastify-uncached',
    'fastify-keys',
    'rowgate-express',
    'rowgate-express-uncached',
    'express-keys',
    'rowgate-hono',
    'hono-keys',
  ],
  probes: (dialect) => [
    pageProbe(dialect, 'customers'),
    { ...pageProbe(dialect, 'customers'), ...withoutCredentials, key: 'missing' },
    { ...pageProbe(dialect, 'customers'), ...withoutCredentials, key: 'unknown' },
  ],
  load: (dialect) => ({ method: 'GET', path: dialect.list('customers') }),
  goals: [
    ...keyedGoals(1.4, 2.9),
    { own: 'rowgate-fastify-uncached', of: 'fastify-keys', ratio: 1.6 },
    { own: 'rowgate-fastify', of: 'fastify-keys', ratio: 3.3 },
    { own: 'rowgate-express-uncached', of: 'express-keys', ratio: 1.4 },
    { own: 'rowgate-express', of: 'express-keys', ratio: 1.6 },
    { own: 'rowgate-hono', of: 'hono-keys', ratio: 1 },
  ],
}
