import type { Database } from 'better-sqlite3'
import { hash, randomBytes } from 'node:crypto'
import type { Headers } from './announce.ts'

/** The check of API keys that the hand-written servers share. */
export interface KeyCheck {
  admits(key: string | string[] | undefined): boolean
  /** The key of one of the users, as it is sent. */
  headers: Headers
}

interface Found {
  expires: number | null
  revoked: number | null
  enabled: number
}

function digest(key: string): string {
  return hash('sha256', key, 'base64url')
}

/** 1,000 users with a key each; returns the last key. */
function addUsers(db: Database): string {
  db.exec(`
    CREATE TABLE users (
      user TEXT PRIMARY KEY, enabled INTEGER NOT NULL, roles TEXT NOT NULL, attributes TEXT NOT NULL);
    CREATE TABLE keys (
      hash TEXT PRIMARY KEY, user TEXT NOT NULL REFERENCES users, expires INTEGER, revoked INTEGER)`)
  const addUser = db.prepare('INSERT INTO users VALUES (?, 1, ?, ?)')
  const addKey = db.prepare('INSERT INTO keys VALUES (?, ?, NULL, NULL)')
  let key = ''
  db.transaction(() => {
    for (let number = 0; number < 1000; number++) {
      const user = `user ${number}`
      key = randomBytes(32).toString('base64url')
      addUser.run(user, '["Sales"]', '{"country":"Norway"}')
      addKey.run(digest(key), user)
    }
  })()
  return key
}

/** A check of keys that keeps their hashes. */
export interface LeastKeyCheck extends KeyCheck {
  /** Reads the hashes again. */
  refresh(): void
}

/** The least that a check of keys can do: it reads the hashes, and looks for the one of each request. */
export function leastKeyCheck(db: Database): LeastKeyCheck {
  const key = addUsers(db)
  const active = db.prepare<[], string>('SELECT hash FROM keys WHERE revoked IS NULL').pluck()
  let hashes = new Set(active.all())
  return {
    admits: (key) => typeof key === 'string' && hashes.has(digest(key)),
    refresh: () => {
      hashes = new Set(active.all())
    },
    headers: { 'x-api-key': key },
  }
}

/** Makes the tables of users and keys, and the check: one prepared statement for each request. */
export function keyCheck(db: Database): KeyCheck {
  const key = addUsers(db)
  const find = db.prepare<[string], Found>(
    `SELECT keys.expires, keys.revoked, users.enabled
     FROM keys JOIN users ON users.user = keys.user WHERE keys.hash = ?`,
  )
  return {
    admits(key) {
      if (typeof key !== 'string') return false
      const found = find.get(digest(key))
      if (found?.enabled !== 1 || found.revoked !== null) return false
      return found.expires === null || Date.now() < found.expires
    },
    headers: { 'x-api-key': key },
  }
}
