import { envelope, feathers, type Dialect } from './dialects.ts'
import type { Scenario } from './scenarios.ts'

/** A server under test; its program is `servers/<name>.ts`. */
export interface Contestant {
  name: string
  title: string
  dialect: Dialect
  /** The scenarios that it takes part in; absent: all that are not for keys. */
  scenarios?: string[]
}

export const baseline = 'node-http'

export const contestants: Contestant[] = [
  { name: 'rowgate', title: 'rowgate, FULL', dialect: envelope },
  {
    name: 'rowgate-keys',
    title: 'rowgate, API key',
    dialect: envelope,
    scenarios: ['read-page', 'bindings'],
  },
  {
    name: 'rowgate-keys-read',
    title: 'the same, read each time',
    dialect: envelope,
    scenarios: ['read-page'],
  },
  {
    name: 'rowgate-watched',
    title: 'rowgate, all channels watched',
    dialect: envelope,
    scenarios: ['read-page'],
  },
  { name: 'node-http', title: '`node:http` by hand', dialect: envelope },
  { name: 'node-http-tuned', title: 'the same, `LIMIT CAST(?)`', dialect: envelope },
  { name: 'fastify', title: 'Fastify 5 by hand', dialect: envelope },
  { name: 'express', title: 'Express 5 by hand', dialect: envelope },
  { name: 'feathers', title: 'Feathers 5 (koa, knex)', dialect: feathers },
  withKey('node-http-keys', '`node:http` by hand, API key'),
  withKey('rowgate-fastify', 'rowgate in Fastify, API key'),
  withKey('fastify-keys', 'Fastify 5 by hand, API key'),
  withKey('rowgate-express', 'rowgate in Express, API key'),
  withKey('express-keys', 'Express 5 by hand, API key'),
  withKey('rowgate-hono', 'rowgate in Hono, API key'),
  withKey('hono-keys', 'Hono 4 by hand, API key'),
]

function withKey(name: string, title: string): Contestant {
  return { name, title, dialect: envelope, scenarios: ['bindings'] }
}

export function takesPart({ scenarios }: Contestant, { name, keys }: Scenario): boolean {
  return scenarios === undefined ? keys !== true : scenarios.includes(name)
}
