import { defineConfig } from 'vitest/config'
import library from '../../vitest.config.ts'

/** The frameworks are a package of their own, so `npm test` leaves these tests out: see `npm run test:admin`. */
export default defineConfig({
  resolve: library.resolve ?? {},
  test: {
    include: ['examples/admin/*.test.ts'],
    // Hooks need a document, which is global.
    isolate: true,
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 60_000,
  },
})
