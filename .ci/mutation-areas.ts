/** Code that is mutated together, and the tests that have to notice. Each entry is a file or a folder. */
export interface MutationArea {
  readonly code: readonly string[]
  readonly tests: readonly string[]
}

/**
 * Tests that no area runs: they use sockets or other processes, wait, or compare whole scripts of requests, so that
 * each mutant would take minutes.
 */
export const slowTests: readonly string[] = [
  'test/cursors/bindings.test.ts',
  'test/cursors/estimates.test.ts',
  'test/cursors/walk.test.ts',
  'test/deployment/package/other-process.test.ts',
  'test/events/garbage.test.ts',
  'test/events/slow-code.test.ts',
  'test/events/socket.test.ts',
  'test/rights/oracle.test.ts',
  'test/rights/pages.test.ts',
  'test/rights/socket.test.ts',
  'test/served/bindings.test.ts',
  'test/served/pages.test.ts',
]

/** What `npm run mutation` covers. */
export const mutationAreas: Readonly<Record<string, MutationArea>> = {
  protocol: { code: ['src/protocol'], tests: ['test/protocol'] },
  packages: { code: ['src/deployment/package'], tests: ['test/deployment/package'] },
  keys: {
    code: ['src/security/keys'],
    tests: ['test/security/keys', 'test/security/ensure.test.ts'],
  },
  gate: {
    code: [
      'src/security/gate.ts',
      'src/security/check.ts',
      'src/security/check-call.ts',
      'src/security/limiting.ts',
      'src/security/rejection.ts',
      'src/security/find-authorization.ts',
    ],
    tests: [
      'test/security/gate',
      'test/security/review',
      'test/security/basic/credentials.test.ts',
      'test/security/basic/options.test.ts',
      'test/security/check-call.test.ts',
      'test/security/provider-mistakes.test.ts',
      'test/rights/in-process.test.ts',
      'test/rights/roles.test.ts',
    ],
  },
  rights: {
    code: ['src/definition/rights.ts', 'src/definition/mistakes/rights.ts'],
    tests: ['test/rights', 'test/definition'],
  },
  request: { code: ['src/request'], tests: ['test/request', 'test/cursors'] },
  events: {
    code: ['src/events'],
    tests: [
      'test/events',
      'test/rights',
      'test/relations',
      'test/request',
      'test/served',
      'test/observation/events.test.ts',
    ],
  },
}
