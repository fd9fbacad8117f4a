import { onPostgres } from '../contestants.ts'
import type { Scenario } from '../scenario.ts'
import { poolScenarios, type PoolDatabase } from './pools.ts'
import { itemsAt, mixedTraffic } from './traffic.ts'

const database: PoolDatabase = {
  name: 'postgres',
  title: 'PostgreSQL',
  servers: onPostgres.map(({ name }) => name),
  pairs: {
    open: { own: 'rowgate-postgres', of: 'postgres-hand' },
    keys: { own: 'rowgate-postgres-keys', of: 'postgres-keys' },
  },
}

// Of equal reads it is known what a statement for each request costs at least; distinct ones may share statements.
const floor = 'postgres-json'

/** Equal reads, and beside them those that differ, updates, inserts and mixed loads, on PostgreSQL. */
export const postgres: Scenario[] = [
  ...poolScenarios(database, {
    'read-page': { open: 1.1, floor },
    'read-pages': { open: 1.8, keys: 2.5 },
    filtered: { open: 1.8, keys: 2.5 },
    'read-100': { open: 1.3, floor },
    'read-item': { open: 1.1, floor },
    'read-items': { open: 2, keys: 3 },
    update: { open: 1, keys: 1.4 },
    insert: { open: 1.2, keys: 1.6 },
  }),
  ...[1, 8, 128].map((connections) => itemsAt(database, connections)),
  mixedTraffic(database),
]
