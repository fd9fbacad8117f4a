import { defineConfig } from 'vitest/config'

/** The runtimes have packages of their own, so `npm test` leaves them out: see `npm run test:runtimes`. */
export default defineConfig({
  test: {
    include: ['test/runtimes/*.runtime.ts'],
    pool: 'forks',
    // Each starts programs that use several cores.
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
