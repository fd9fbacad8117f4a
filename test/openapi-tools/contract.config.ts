import { defineConfig } from 'vitest/config'
import own from '../../vitest.config.ts'

/** The contract suite, with a validating proxy in front of each of its services: see `contract.tools.ts`. */
export default defineConfig({
  resolve: own.resolve ?? {},
  test: {
    include: ['test/contract/**/*.test.ts'],
    exclude: [
      // They write bytes to sockets, and count the sockets of the process.
      'test/contract/server-*.test.ts',
      // They send no request, or start services on other bindings.
      'test/contract/authentication-{start,processes}.test.ts',
    ],
    // The proxy parses each response and writes it again, so the digits of its JSON are the proxy's.
    testNamePattern: /^(?!.*json keeps the order of its names, the digits of its numbers)/,
    setupFiles: ['test/openapi-tools/contract.setup.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
