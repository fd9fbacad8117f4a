import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** Every contract case on every combination of a binding and a storage. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/contract/**/*.test.ts'], env: { MATRIX: 'full' } },
})
