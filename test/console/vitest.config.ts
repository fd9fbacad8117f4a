import { configDefaults, defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

// `npm test` runs them on `node:http`.
const bindings = ['Express', 'Express 4', 'Fastify', 'Hono']

/** The tests of the console on every other binding. */
export default defineConfig({
  test: {
    projects: bindings.map((binding) => ({
      ...base,
      test: {
        ...base.test,
        name: binding,
        include: ['test/console/*.test.ts'],
        // They mount the console themselves, or need no socket.
        exclude: [
          ...configDefaults.exclude,
          'test/console/console-files.test.ts',
          'test/console/console-mounts.test.ts',
          'test/console/labels.test.ts',
        ],
        env: { BINDING: binding },
      },
    })),
  },
})
