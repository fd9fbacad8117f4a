import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

const contract = ['test/contract/**/*.test.ts']
const onStorages = [
  'events/**',
  'consume/**',
  'relations/**',
  'cache/read-plans',
  'rights/pages',
  'rights/hidden-fields',
  'rights/caller-values',
  'rights/truth-table',
  'storage/postgres/pglite',
].map((tests) => `test/${tests}${tests.endsWith('**') ? '/*' : ''}.test.ts`)
const readers = [...contract, 'test/rights/**/*.test.ts', 'test/security/gate/**/*.test.ts']

// They count requests, which are repeated here.
const counting = [
  ...['test/contract/authentication-limits.test.ts', 'test/contract/server-departures.test.ts'],
  ...['test/rights/host-code.test.ts', 'test/rights/row-rules.test.ts'],
]

// They are about one process and its database: code that waits keeps one of the few connections of the tests.
const local = ['test/events/slow-code.test.ts']

function project(name: string, include: readonly string[], env: Readonly<Record<string, string>>) {
  const exclude = 'CACHE' in env ? counting : local
  return { ...base, test: { ...base.test, name, include: [...include], exclude, env } }
}

/** What takes too long for `npm test`. */
export default defineConfig({
  test: {
    projects: [
      // Every contract case on every combination of a binding and a storage.
      project('combinations', contract, { MATRIX: 'full' }),
      // What else runs on every storage, also on those of database servers.
      project('databases', onStorages, { MATRIX: 'full' }),
      // Every read three times: with the response cache of the default, with a full one, and without.
      project('cached', readers, { CACHE: 'on' }),
      project('full cache', readers, { CACHE: 'small' }),
      project('no cache', readers, { CACHE: 'off' }),
      project('writers', ['test/cache/differential.test.ts'], { CACHE_ANSWERS: '250000' }),
    ],
  },
})
