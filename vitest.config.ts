import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { entries, root } from './.ci/entries.ts'

export default defineConfig({
  resolve: {
    alias: entries.map(({ specifier, source }) => ({
      find: new RegExp(`^${specifier}$`),
      replacement: root + source,
    })),
  },
  test: {
    include: ['test/**/*.test.ts'],
    // They start servers of their own: `npm run test:clusters`.
    exclude: [...configDefaults.exclude, 'test/clusters/**'],
    pool: 'forks',
    // The modules of src keep no state, so files share them: loading them anew takes seconds for each file.
    isolate: false,
    // Much of the work is waiting for sockets, disks and processes: one worker leaves a core idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // A slow machine must not make a test fail.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One second, the default, is too short for background work on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    dangerouslyIgnoreUnhandledErrors: false,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html'],
    },
  },
})
