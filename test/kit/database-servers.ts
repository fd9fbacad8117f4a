import { mariadb, missingServer as missingMariaDb } from './mysql.ts'
import { missingServer as missingPostgres, postgres } from './postgres.ts'
import type { Storage } from './storages.ts'

/** The storages in servers that respond, which enforce references. A new server is one more row. */
export const serverStorages: readonly Storage[] = [
  ...((await missingPostgres()) === undefined ? [postgres] : []),
  ...((await missingMariaDb()) === undefined ? [mariadb] : []),
]
