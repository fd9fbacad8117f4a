import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const galeraLibrary = '/usr/lib/galera/libgalera_smm.so'

/** A file of each Debian package whose servers the tests start. */
const proofs = {
  pgbouncer: () => '/usr/sbin/pgbouncer',
  postgresql: () => join(postgresFolder(), 'pg_basebackup'),
  'mariadb-server': () => '/usr/sbin/mariadbd',
  'galera-4': () => galeraLibrary,
  rsync: () => '/usr/bin/rsync',
  patroni: () => '/usr/bin/patroni',
  'etcd-server': () => '/usr/bin/etcd',
  haproxy: () => '/usr/sbin/haproxy',
} as const satisfies Readonly<Record<string, () => string>>

/** A Debian package. */
export type DebianPackage = keyof typeof proofs

/**
 * Why tests are skipped; undefined if these packages are installed. Throws if one is missing and servers are
 * required.
 */
export function missingPackages(...names: readonly DebianPackage[]): string | undefined {
  const missing = names.filter((name) => !existsSync(proofs[name]()))
  if (missing.length === 0) return undefined
  const reason = `missing Debian packages: ${missing.join(', ')} (apt-get install ${missing.join(' ')})`
  if (process.env['REQUIRE_SERVERS'] === '1') throw new Error(reason)
  console.warn(`Tests of clusters are skipped: ${reason}`)
  return reason
}

/** Returns the folder of the programs of the newest installed PostgreSQL. */
export function postgresFolder(): string {
  const home = '/usr/lib/postgresql'
  const versions = existsSync(home) ? readdirSync(home).map(Number) : []
  return join(home, String(Math.max(0, ...versions)), 'bin')
}

/** The replication provider of a Galera cluster. */
export { galeraLibrary }
