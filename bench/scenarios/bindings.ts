import { constant, floor, keyedGoals, type Scenario } from '../scenario.ts'
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
    floor,
    constant,
    'rowgate-fastify',
    'rowgate-fastify-uncached',
    'fastify-keys',
    'fastify-floor',
    'fastify-constant',
    'rowgate-express',
    'rowgate-express-uncached',
    'express-keys',
    'express-floor',
    'express-constant',
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
    { own: 'rowgate-fastify-uncached', of: 'fastify-keys', ratio: 1.6, floor: 'fastify-floor' },
    { own: 'rowgate-fastify', of: 'fastify-keys', ratio: 3.3, floor: 'fastify-constant' },
    { own: 'rowgate-express-uncached', of: 'express-keys', ratio: 1.4, floor: 'express-floor' },
    { own: 'rowgate-express', of: 'express-keys', ratio: 1.6, floor: 'express-constant' },
    { own: 'rowgate-hono', of: 'hono-keys', ratio: 1 },
  ],
}
