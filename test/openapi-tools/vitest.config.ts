import { defineConfig } from 'vitest/config'
import own from '../../vitest.config.ts'

/** The tools have a package of their own, so `npm test` leaves them out: see `npm run test:openapi`. */
export default defineConfig({
  resolve: own.resolve ?? {},
  test: {
    include: ['test/openapi-tools/*.tools.ts'],
    pool: 'forks',
    // Each starts programs that use several cores.
    maxWorkers: 1,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
})
