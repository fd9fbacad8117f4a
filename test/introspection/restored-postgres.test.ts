import { Pool } from 'pg'
import { describe, onTestFinished } from 'vitest'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { missingServer } from '../kit/postgres.ts'
import { expectedPostgres } from './expected-postgres.ts'
import { restorePostgres } from './foreign-server.ts'
import { testRestored } from './restored-server.ts'

const keyless = ['Filter', 'Insert']
const missing = await missingServer()

describe.skipIf(missing !== undefined)('a restored database of PostgreSQL', () => {
  testRestored({
    restore: () => restorePostgres('postgres'),
    expected: expectedPostgres,
    object: 'jsonb_build_object',
    rows: 58,
    failing: 'select 1 as id, (select 10000000000 from (values (1), (2)) as two (n)) as size',
    columns: `select count(*) from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
       and not c.relispartition and a.attnum > 0`,
    // Bytes.
    leftOut: 1,
    storage(connectionString) {
      const pool = new Pool({ connectionString, max: 3, connectionTimeoutMillis: 5_000 })
      onTestFinished(() => pool.end())
      return postgresStorage(pool)
    },
    exercise: {
      free: [`insert into public.prices values (1, null, null)`],
      values: { places: { name: 'Reno' } },
      done: {
        // Without a key, or with one that clients can't give.
        ...{ log: keyless, 'on-hand': keyless, partly: keyless, places: keyless, weather: keyless },
        ...{
          myview: ['Filter'],
          'sales-summary': ['Filter'],
          moments: ['Filter', 'Update', 'Delete'],
        },
      },
    },
  })
})
