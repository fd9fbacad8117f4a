import { createPool } from 'mysql2/promise'
import { mysqlStorage } from 'rowgate/mysql'

const pool = createPool({
  uri: process.env.DATABASE_URL ?? 'mysql://root@localhost:3306/test',
  connectionLimit: 10,
  connectTimeout: 5_000,
})

/** Where the items are stored: in MariaDB or MySQL, with tables that are created when they are missing. */
export const storage = mysqlStorage(pool, { ensureSchema: 'columns' })
