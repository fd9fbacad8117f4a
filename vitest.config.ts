import { defineConfig } from 'vitest/config'
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
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 20_000,
    dangerouslyIgnoreUnhandledErrors: false,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html'],
    },
  },
})
