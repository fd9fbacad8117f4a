import { configDefaults, defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/** The tests of MariaDB that MySQL passes too, on a MySQL server of their own; see `npm run test:mysql`. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    exclude: configDefaults.exclude,
    include: [
      'test/storage/mysql/*.test.ts',
      'test/storage/sql/joined-updates.test.ts',
      'test/cursors/estimates.test.ts',
      'test/cli/schema.test.ts',
      'test/introspection/restored-mysql.test.ts',
      'test/clusters/mysql-replica.test.ts',
    ],
    globalSetup: ['test/clusters/kit/mysql-server.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
