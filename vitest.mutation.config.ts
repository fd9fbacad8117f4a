import { mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** The tests that `.ci/mutation.ts` runs for an area: Stryker passes no list of test files. */
const include = (process.env['MUTATION_TESTS'] ?? '').split(' ').filter((one) => one !== '')

const { test, ...rest } = base
export default mergeConfig(rest, { test: { ...test, include } })
