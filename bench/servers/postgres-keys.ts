import { hash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { Pool } from 'pg'
import { announce, connectionsOf, tableNames } from './announce.ts'
import { send } from './node-http-handler.ts'
import { poolHandler } from './pool-handler.ts'
import { statementTables } from './postgres-statements.ts'
import { unauthorized } from './replies.ts'

interface Found {
  expires: Date | null
  revoked: Date | null
  enabled: boolean
}

const pool = new Pool(connectionsOf())
const handle = poolHandler(statementTables(pool, tableNames()))
const key = await addUsers()

function digest(key: string): string {
  return hash('sha256', key, 'base64url')
}

/** 1,000 users with a key each, as for the servers on SQLite; returns the last key. */
async function addUsers(): Promise<string> {
  const keys = Array.from({ length: 1000 }, () => randomBytes(32).toString('base64url'))
  const users = keys.map((_, number) => `user ${number}`)
  await pool.query(`create table "benchUsers" ("user" text primary key, enabled boolean not null)`)
  await pool.query(`create table "benchKeys" (hash text primary key,
    "user" text not null references "benchUsers", expires timestamptz, revoked timestamptz)`)
  await pool.query('insert into "benchUsers" select *, true from unnest($1::text[])', [users])
  const addKeys =
    'insert into "benchKeys" (hash, "user") select * from unnest($1::text[], $2::text[])'
  await pool.query(addKeys, [keys.map(digest), users])
  await pool.query('analyze')
  return keys.at(-1) ?? ''
}

const find = `select k.expires, k.revoked, u.enabled
  from "benchKeys" k join "benchUsers" u on u."user" = k."user" where k.hash = $1`

async function admits(key: string | string[] | undefined): Promise<boolean> {
  if (typeof key !== 'string') return false
  const { rows } = await pool.query<Found>({ name: 'key', text: find, values: [digest(key)] })
  const [found] = rows
  if (found?.enabled !== true || found.revoked !== null) return false
  return found.expires === null || Date.now() < found.expires.getTime()
}

const server = createServer((request, response) => {
  void admits(request.headers['x-api-key']).then((isAdmitted) => {
    if (isAdmitted) handle(request, response)
    else send(response, 401, unauthorized)
  })
})

announce(server.listen(0, '127.0.0.1'), { 'x-api-key': key })
