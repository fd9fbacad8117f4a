import { Pool } from 'pg'
import { postgresStorage } from 'rowgate/postgres'

const pool = new Pool({
  connectionString: process.env.DATABASE_URL,
  max: 10,
  connectionTimeoutMillis: 5_000,
})

/** Where the items are stored: in PostgreSQL, with tables that are created when they are missing. */
export const storage = postgresStorage(pool, { ensureSchema: 'columns' })
