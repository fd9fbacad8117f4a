import { Pool } from 'pg'
import { connectionsOf, tableNames } from './announce.ts'
import { serveWithKeys, usersWithKeys, type FoundKey } from './pool-keys.ts'
import { statementTables } from './postgres-statements.ts'

const pool = new Pool(connectionsOf())

async function addUsers(): Promise<string> {
  const { users, hashes, key } = usersWithKeys()
  await pool.query(`create table "benchUsers" ("user" text primary key, enabled boolean not null)`)
  await pool.query(`create table "benchKeys" (hash text primary key,
    "user" text not null references "benchUsers", expires timestamptz, revoked timestamptz)`)
  await pool.query('insert into "benchUsers" select *, true from unnest($1::text[])', [users])
  const addKeys =
    'insert into "benchKeys" (hash, "user") select * from unnest($1::text[], $2::text[])'
  await pool.query(addKeys, [hashes, users])
  await pool.query('analyze')
  return key
}

const text = `select k.expires, k.revoked, u.enabled
  from "benchKeys" k join "benchUsers" u on u."user" = k."user" where k.hash = $1`

async function find(hash: string): Promise<FoundKey | undefined> {
  const { rows } = await pool.query<FoundKey>({ name: 'key', text, values: [hash] })
  return rows[0]
}

serveWithKeys(statementTables(pool, tableNames()), find, await addUsers())
