import { requirePlainObject } from '../checks/plain-object.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { declarationCases } from './security-declaration.ts'
import { findCases } from './security-find.ts'
import { forgeryCases } from './security-forgery.ts'
import { contextCases } from './security-context.ts'
import { identifyCases } from './security-identify.ts'
import { secrecyCases } from './security-secrets.ts'
import { completeSubject, type SecurityCase, type SecuritySubject } from './security-subject.ts'

/** Options of {@link testSecurityProvider}. */
export interface SecurityConformanceOptions {
  /** The function of the test runner that registers a test: `test` of vitest, node:test, mocha and most others. */
  readonly test: (name: string, run: (...context: unknown[]) => Promise<void>) => unknown
  /** Creates a provider for one case, with requests that it must accept and reject. */
  readonly create: () => MaybePromise<SecuritySubject>
}

const cases: readonly SecurityCase[] = [
  ...declarationCases,
  ...findCases,
  ...identifyCases,
  ...contextCases,
  ...forgeryCases,
  ...secrecyCases,
]

/**
 * Registers the cases of the contract of security providers with a test runner. A service can use a
 * provider that passes all of them.
 *
 * ```ts
 * import { test } from 'vitest'
 * import { credentials, testSecurityProvider } from 'rowgate/conformance'
 *
 * const cookie = (value: string) => credentials({ headers: { cookie: `session=${value}` } })
 * testSecurityProvider({
 *   test,
 *   create: () => ({
 *     provider: sessions(new Map([['kQ0v8s2mV1aT', 'maria']])),
 *     valid: [{ request: cookie('kQ0v8s2mV1aT'), principal: { user: 'maria' } }],
 *     invalid: [cookie('Zr7Yp3Lx9eWd')],
 *   }),
 * })
 * ```
 */
export function testSecurityProvider(options: SecurityConformanceOptions): void {
  requirePlainObject('The options', options, 'testSecurityProvider')
  for (const one of cases) {
    options.test(one.name, async () => {
      const given = await options.create()
      try {
        await one.run(completeSubject(given))
      } finally {
        await given.destroy?.()
      }
    })
  }
}
