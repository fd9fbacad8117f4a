import { describe } from 'vitest'
import { missingServer } from '../kit/postgres.ts'
import { expectedPostgres } from './expected-postgres.ts'
import { restorePostgres } from './foreign-server.ts'
import { testRestored } from './restored-server.ts'

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
  })
})
