import { onMariaDb } from '../contestants.ts'
import type { Scenario } from '../scenario.ts'
import { poolScenarios, type PoolDatabase } from './pools.ts'

const database: PoolDatabase = {
  name: 'mariadb',
  title: 'MariaDB',
  servers: onMariaDb.map(({ name }) => name),
  pairs: {
    open: { own: 'rowgate-mariadb', of: 'mariadb-hand' },
    keys: { own: 'rowgate-mariadb-keys', of: 'mariadb-keys' },
  },
}

/** The same requests as on PostgreSQL, on MariaDB. */
export const mariadb: Scenario[] = poolScenarios(database, {
  'read-page': {},
  'read-pages': { open: 1.2, keys: 1.6 },
  filtered: { open: 1.2, keys: 1.6 },
  'read-item': {},
  'read-items': { open: 2, keys: 2.5 },
  update: { open: 1, keys: 1.4 },
  insert: { open: 1.2, keys: 1.6 },
})
