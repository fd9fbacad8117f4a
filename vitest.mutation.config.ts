import { mergeConfig } from 'vitest/config'
import type { VitestPluginContext } from 'vitest/node'
import { root } from './.ci/entries.ts'
import { keepThread } from './.ci/mutation-thread.ts'
import base from './vitest.config.ts'

/** The tests that `.ci/mutation.ts` runs for an area: Stryker passes no list of test files. */
const include = (process.env['MUTATION_TESTS'] ?? '').split(' ').filter((one) => one !== '')

const { test, ...rest } = base
export default mergeConfig(rest, {
  plugins: [
    {
      name: 'kept-thread',
      // Stryker's runner sets the pool after reading this file, so it is replaced here.
      configureVitest({ vitest, project }: VitestPluginContext) {
        const name = 'kept-thread'
        Object.assign(project.config, {
          pool: name,
          poolRunner: { name, createPoolWorker: keepThread(vitest) },
        })
      },
    },
  ],
  test: {
    ...test,
    include,
    isolate: false,
    setupFiles: [`${root}.ci/mutation-setup.ts`],
    // Stryker has a time limit of its own. A slow machine must not make a test fail.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
