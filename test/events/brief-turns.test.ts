import { expect, test } from 'vitest'
import {
  createService,
  error,
  memoryStorage,
  openAccess,
  principal,
  type CollectionBehaviour,
} from '../../src/entries/index.ts'
import { loose, tasks, type TaskShape } from './tasks.ts'

/** Whether each of three inserts shared a turn with other brief writers. */
async function briefness(behaviour: CollectionBehaviour<TaskShape>): Promise<readonly unknown[]> {
  const storage = memoryStorage()
  const seen: unknown[] = []
  const service = createService({
    applications: { app: { collections: { tasks: loose(tasks(behaviour)) } } },
    security: openAccess(),
    storage: {
      ...storage,
      transaction: (options, work) => {
        if (options.mode === 'write') seen.push(options.brief)
        return storage.transaction(options, work)
      },
    },
  })
  const own = service.as(principal('maria')).collection('app', 'tasks')
  for (const id of [1, 2, 3]) await own.insert({ id, title: 'one' })
  await service.close()
  return seen
}

const pause = () => new Promise<void>((resolve) => setImmediate(resolve))

test.each<[string, CollectionBehaviour<TaskShape>, readonly boolean[]]>([
  ['no handler', {}, [true, true, true]],
  [
    'a handler that returns at once',
    { events: { Insert: { before: () => undefined } } },
    [true, true, true],
  ],
  [
    'an async handler',
    { events: { Insert: { before: async () => pause() } } },
    [false, false, false],
  ],
  [
    'an async handler of another event',
    { events: { Delete: { after: async () => pause() } } },
    [false, false, false],
  ],
  [
    'an async prepare',
    { events: { Insert: { prepare: async () => pause() } } },
    [true, true, true],
  ],
  [
    'an async rule',
    { validations: [error('rule', { check: async () => undefined })] },
    [false, false, false],
  ],
  [
    'a handler that was seen to return a promise',
    { events: { Insert: { before: () => pause() } } },
    [true, false, false],
  ],
])('writes of a collection with %s share turns: %j', async (_what, behaviour, expected) => {
  expect(await briefness(behaviour)).toEqual(expected)
})
