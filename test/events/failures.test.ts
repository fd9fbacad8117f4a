import { expect } from 'vitest'
import { error, type CollectionBehaviour } from '../../src/entries/index.ts'
import { describeOnStorages } from '../kit/stage.ts'
import { expectFault, tasks, type TaskShape } from './tasks.ts'

const task = { id: 1, title: 'one' }

const thrown: Readonly<Record<string, () => unknown>> = {
  'an Error': () => new Error('s3cret'),
  'a text': () => 's3cret',
  null: () => null,
  undefined: () => undefined,
  'an object': () => ({ status: 200, message: 's3cret' }),
  'a hostile proxy': () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('s3cret')
        },
        has: () => {
          throw new Error('s3cret')
        },
      },
    ),
}

const places: Readonly<Record<string, (fail: () => never) => CollectionBehaviour<TaskShape>>> = {
  before: (fail) => ({ events: { Insert: { before: fail } } }),
  'before, asynchronously': (fail) => ({
    events: {
      Insert: {
        before: async () => {
          await Promise.resolve()
          fail()
        },
      },
    },
  }),
  'before, late': (fail) => ({
    events: {
      Insert: {
        before: () =>
          new Promise((resolve, reject) => {
            setTimeout(() => {
              try {
                fail()
              } catch (caught) {
                // The reason is what the case is about.

                reject(caught)
                resolve()
              }
            }, 5)
          }),
      },
    },
  }),
  after: (fail) => ({ events: { Insert: { after: fail } } }),
  'a rule': (fail) => ({ validations: [error('rule', { check: fail })] }),
  'an asynchronous rule': (fail) => ({
    validations: [error('rule', { check: async () => Promise.resolve().then(fail) })],
  }),
}

describeOnStorages('code of the host that throws', (on) => {
  for (const [place, behaviour] of Object.entries(places)) {
    for (const [what, make] of Object.entries(thrown)) {
      on(`${what} in ${place}: 500, a report, and nothing is stored`, async (open) => {
        const stage = open({
          tasks: tasks(
            behaviour(() => {
              throw make()
            }),
          ),
        })
        await expectFault(stage)
        const reports = stage.reports()
        expect(reports).toHaveLength(1)
        expect(['handler-failed', 'request-failed']).toContain(reports[0]?.type)
      })
    }
  }

  on('only the first settlement of a promise counts', async (open) => {
    const { ask } = open({
      tasks: tasks({
        events: {
          Insert: {
            before: () =>
              new Promise<void>((resolve, reject) => {
                resolve()
                reject(new Error('too late'))
                reject(new Error('too late'))
              }),
          },
        },
      }),
    })
    expect((await ask('POST', '/tasks', task)).status).toBe(200)
  })

  on('a thenable without catch is waited for like a promise', async (open) => {
    const thenable = { then: (settle: () => void) => void setTimeout(settle, 1) }
    const { ask } = open({
      tasks: tasks({ events: { Insert: { before: () => thenable as unknown as Promise<void> } } }),
    })
    expect((await ask('POST', '/tasks', task)).status).toBe(200)
  })
})
