import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

const contract = ['test/contract/**/*.test.ts']
// Tests of the storages that `npm test` leaves out.
const onStorages = [
  ...['events', 'consume', 'relations', 'rights'].flatMap(filesOnStorages),
  'test/cache/read-plans.test.ts',
  'test/consume/outbox/kill.test.ts',
  'test/storage/postgres/pglite.test.ts',
]
// What reads items, and what decides who reads them.
const readers = [
  ...['authentication', 'collection-get', 'envelope', 'insert', 'item', 'page-options'].map(
    (name) => `test/contract/${name}.test.ts`,
  ),
  ...['test/contract/paging.test.ts', 'test/contract/parity.test.ts'],
  ...['test/rights/**/*.test.ts', 'test/security/gate/**/*.test.ts'],
]

// Other combinations and other random requests each time. With MATRIX_SHARE=8, as in CI, an eighth of them.
const seed = Math.floor(Math.random() * 1e9)
const share = Number(process.env['MATRIX_SHARE'] ?? 1)
const part = `${seed % share}/${share}`
const randomRequests = String(Math.ceil(20_000 / share))
const atRandom = ['test/rights/random-items.test.ts', 'test/operators/random-requests.test.ts']

// They count requests, which are repeated here.
const counting = ['test/rights/host-code.test.ts', 'test/rights/row-rules.test.ts']

// They are about one process and its database: code that waits keeps one of the few connections of the tests.
const local = ['test/events/slow-code.test.ts']

/** Returns the files in a folder of which some tests run on every storage of `test/kit/storages.ts`. */
function filesOnStorages(folder: string): readonly string[] {
  const uses =
    /describe(?:OnStorages|Services|ForCallers)\(|\b(?:each\(\[?[.]*|of )storages\b|\bstorages\.map/
  return readdirSync(`test/${folder}`, { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${folder}/${name}`)
    .filter((path) => path.endsWith('.test.ts') && uses.test(readFileSync(path, 'utf8')))
}

function project(name: string, include: readonly string[], env: Readonly<Record<string, string>>) {
  const exclude = 'CACHE' in env ? counting : local
  return { ...base, test: { ...base.test, name, include: [...include], exclude, env } }
}

/** What takes too long for `npm test`, and nothing that it runs. */
export default defineConfig({
  test: {
    projects: [
      // Every contract case on the combinations of a binding and a storage that `npm test` leaves out.
      project('combinations', contract, { MATRIX: 'on', MATRIX_PART: part }),
      // What else runs on every storage, on those of database servers.
      project('databases', onStorages, { MATRIX: 'on' }),
      // Every read three times: with the response cache of the default, with a full one, and without.
      project('cached', readers, { CACHE: 'on' }),
      project('full cache', readers, { CACHE: 'small' }),
      project('no cache', readers, { CACHE: 'off' }),
      project('random requests', atRandom, {
        ...{ MATRIX: 'on', ITEM_RUNS: randomRequests, ITEM_SEED: String(seed) },
        ...{ QUESTION_RUNS: randomRequests, QUESTION_SEED: String(seed) },
      }),
      project('writers', ['test/cache/differential.test.ts'], {
        CACHE_ANSWERS: String(Math.ceil(250_000 / share)),
      }),
    ],
  },
})
