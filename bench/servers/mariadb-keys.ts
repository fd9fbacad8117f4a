import { createPool, type RowDataPacket } from 'mysql2/promise'
import { mysqlConnectionsOf, tableNames } from './announce.ts'
import { executedTables } from './mariadb-statements.ts'
import { serveWithKeys, usersWithKeys, type FoundKey } from './pool-keys.ts'

const pool = createPool(mysqlConnectionsOf())

async function addUsers(): Promise<string> {
  const { users, hashes, key } = usersWithKeys()
  await pool.query(`create table benchUsers (
    user varchar(40) character set ascii collate ascii_bin primary key, enabled boolean not null)`)
  await pool.query(`create table benchKeys (
    hash char(43) character set ascii collate ascii_bin primary key,
    user varchar(40) character set ascii collate ascii_bin not null references benchUsers (user),
    expires datetime, revoked datetime)`)
  await pool.query('insert into benchUsers values ?', [users.map((user) => [user, true])])
  const keys = hashes.map((hash, number) => [hash, users[number]])
  await pool.query('insert into benchKeys (hash, user) values ?', [keys])
  await pool.query('analyze table benchUsers, benchKeys')
  return key
}

const text = `select k.expires, k.revoked, u.enabled
  from benchKeys k join benchUsers u on u.user = k.user where k.hash = ?`

async function find(hash: string): Promise<FoundKey | undefined> {
  const [rows] = await pool.execute<(FoundKey & RowDataPacket)[]>(text, [hash])
  return rows[0]
}

serveWithKeys(executedTables(pool, tableNames()), find, await addUsers())
