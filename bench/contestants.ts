import { envelope, feathers, type Dialect } from './dialects.ts'

/** A server under test; its program is `servers/<name>.ts`. */
export interface Contestant {
  name: string
  title: string
  dialect: Dialect
  /** The scenarios that it takes part in; absent: all. */
  scenarios?: string[]
}

export const baseline = 'node-http'

export const contestants: Contestant[] = [
  { name: 'rowgate', title: 'rowgate, FULL', dialect: envelope },
  {
    name: 'rowgate-keys',
    title: 'rowgate, API key',
    dialect: envelope,
    scenarios: ['read-page'],
  },
  {
    name: 'rowgate-keys-read',
    title: 'the same, read each time',
    dialect: envelope,
    scenarios: ['read-page'],
  },
  { name: 'node-http', title: '`node:http` by hand', dialect: envelope },
  { name: 'node-http-tuned', title: 'the same, `LIMIT CAST(?)`', dialect: envelope },
  { name: 'fastify', title: 'Fastify 5 by hand', dialect: envelope },
  { name: 'express', title: 'Express 5 by hand', dialect: envelope },
  { name: 'feathers', title: 'Feathers 5 (koa, knex)', dialect: feathers },
]
