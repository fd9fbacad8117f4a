import { missingServer, postgres } from './postgres.ts'
import type { Storage } from './storages.ts'

/** The storages in servers that respond, which enforce references. A new server is one more row. */
export const serverStorages: readonly Storage[] = [
  ...((await missingServer()) === undefined ? [postgres] : []),
]
