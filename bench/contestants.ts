import { resolve } from 'node:path'
import { envelope, feathers, type Dialect } from './dialects.ts'

/** A server under test; its program is `servers/<name>.ts`. */
export interface Contestant {
  name: string
  title: string
  dialect: Dialect
  /** The hand-written server that its ratios are to. */
  base: string
  /** Where its tables are. Default: a SQLite file. */
  database?: 'postgres' | 'mariadb'
  /** If it is a server of another checkout: its folder and compiled program, and the name of the same server here. */
  elsewhere?: { folder: string; program: string; here: string }
}

export const contestants: Contestant[] = [
  open('rowgate', 'rowgate, FULL'),
  keyed('rowgate-keys', 'rowgate, FULL, API key'),
  keyed('rowgate-keys-uncached', 'the same, no response cache'),
  keyed('rowgate-keys-read', 'the same, callers and rows read each time'),
  open('rowgate-watched', 'rowgate, all channels watched'),
  open('node-http', '`node:http` by hand'),
  keyed('node-http-keys', '`node:http` by hand, API key'),
  keyed('node-http-floor', 'floor: one statement, key in memory', 'node-http-keys'),
  keyed('node-http-constant', 'floor: a constant text, key in memory', 'node-http-keys'),
  open('fastify', 'Fastify 5 by hand'),
  open('express', 'Express 5 by hand'),
  { ...open('feathers', 'Feathers 5 (koa, knex)'), dialect: feathers },
  keyed('rowgate-fastify', 'rowgate in Fastify, API key', 'fastify-keys'),
  keyed('rowgate-fastify-uncached', 'the same, no response cache', 'fastify-keys'),
  keyed('fastify-keys', 'Fastify 5 by hand, API key', 'fastify-keys'),
  keyed('fastify-floor', 'floor in Fastify: one statement, key in memory', 'fastify-keys'),
  keyed('fastify-constant', 'floor in Fastify: a constant text, key in memory', 'fastify-keys'),
  keyed('rowgate-express', 'rowgate in Express, API key', 'express-keys'),
  keyed('rowgate-express-uncached', 'the same, no response cache', 'express-keys'),
  keyed('express-keys', 'Express 5 by hand, API key', 'express-keys'),
  keyed('express-floor', 'floor in Express: one statement, key in memory', 'express-keys'),
  keyed('express-constant', 'floor in Express: a constant text, key in memory', 'express-keys'),
  keyed('rowgate-hono', 'rowgate in Hono, API key', 'hono-keys'),
  keyed('hono-keys', 'Hono 4 by hand, API key', 'hono-keys'),
]

/** Returns the server as another checkout has it, which must have measured it before. */
export function inCheckout(folder: string, { name, title, ...others }: Contestant): Contestant {
  return {
    ...others,
    name: `${folder}:${name}`,
    title: `${title}, in ${folder}`,
    elsewhere: { folder, program: resolve(folder, 'bench', 'dist', `${name}.js`), here: name },
  }
}

/** The servers on PostgreSQL. */
export const onPostgres: Contestant[] = [
  postgres('rowgate-postgres', 'rowgate'),
  postgres('rowgate-postgres-keys', 'rowgate, API key', 'postgres-keys'),
  postgres('postgres-hand', '`node:http` and `pg` by hand, named statements'),
  postgres('postgres-keys', 'the same, API key', 'postgres-keys'),
  postgres('postgres-json', 'by hand, JSON written by the server'),
  { ...postgres('feathers-postgres', 'Feathers 5 (koa, knex on `pg`)'), dialect: feathers },
]

/** The servers on MariaDB. */
export const onMariaDb: Contestant[] = [
  mariadb('rowgate-mariadb', 'rowgate'),
  mariadb('rowgate-mariadb-keys', 'rowgate, API key', 'mariadb-keys'),
  mariadb('mariadb-hand', '`node:http` and `mysql2` by hand, prepared statements'),
  mariadb('mariadb-keys', 'the same, API key', 'mariadb-keys'),
]

function open(name: string, title: string): Contestant {
  return { name, title, dialect: envelope, base: 'node-http' }
}

function keyed(name: string, title: string, base = 'node-http-keys'): Contestant {
  return { name, title, dialect: envelope, base }
}

function postgres(name: string, title: string, base = 'postgres-hand'): Contestant {
  return { ...open(name, title), base, database: 'postgres' }
}

function mariadb(name: string, title: string, base = 'mariadb-hand'): Contestant {
  return { ...open(name, title), base, database: 'mariadb' }
}
