import { sqliteStorage } from 'rowgate/sqlite'

/** Where the items are stored: in a SQLite file, with tables that are created when they are missing. */
export const storage = sqliteStorage(process.env.DATABASE ?? 'data.db', { ensureSchema: 'columns' })
