import { beforeEach, inject } from 'vitest'

// Stryker activates a mutant before the first test of a file, and leaves it active. In a thread that is kept,
// it must not be active while the next file declares its tests.
const space = inject('globalNamespace' as never) as string
const state = (globalThis as Record<string, unknown>)[space] as { activeMutant?: string }
delete state.activeMutant

// No area mutates SQLite, and its files would take most of the time of the tests that run on each storage.
beforeEach(({ task, skip }) => {
  skip(/\bsqlite$/.test(task.suite?.name ?? ''))
})
