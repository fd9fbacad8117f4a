import { configDefaults, defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/** Each file starts poolers, replicas or clusters from Debian packages; see `npm run test:clusters`. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/clusters/**/*.test.ts'],
    // `npm run test:mysql` runs it.
    exclude: [...configDefaults.exclude, 'test/clusters/mysql-replica.test.ts'],
    // Each file runs several servers.
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
