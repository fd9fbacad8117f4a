import { expect } from 'vitest'
import {
  defineCollection,
  error,
  integer,
  text,
  type CollectionBehaviour,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { describeOnStorages } from '../kit/stage.ts'
import { expectFault, log, loose, tasks, type TaskShape } from './tasks.ts'
import { until } from '../kit/service.ts'

const task = { id: 1, title: 'one' }

describeOnStorages('code of the host that takes too long', (on) => {
  const never = () => new Promise<void>(() => undefined)
  for (const [name, behaviour] of Object.entries({
    before: { events: { Insert: { before: never } } },
    after: { events: { Insert: { after: never } } },
    rule: { validations: [error('rule', { check: never })] },
  } satisfies Record<string, CollectionBehaviour<TaskShape>>)) {
    on(`a ${name} that never settles is cut off: 500 and a report`, async (open) => {
      const stage = open({ tasks: tasks(behaviour) }, { handlerTimeout: 20 })
      await expectFault(stage)
      expect(stage.reports()).toEqual([
        {
          type: 'handler-timed-out',
          place: { application: 'app', collection: 'tasks', event: 'Insert' },
          name,
          milliseconds: 20,
        },
      ])
    })
  }

  on('code that has timed out can no longer write, and its signal is aborted', async (open) => {
    const seen: string[] = []
    const stage = open(
      {
        log: loose(log),
        tasks: tasks({
          events: {
            Insert: {
              before: async ({ collection, signal, item }) => {
                await new Promise((resolve) => setTimeout(resolve, 60))
                seen.push(`aborted ${signal.aborted}`)
                item.title = 'zombie'
                await collection('log')
                  .insert({ id: 1, line: 'zombie' })
                  .catch(() => seen.push('rejected'))
              },
            },
          },
        }),
      },
      { handlerTimeout: 20 },
    )
    await expectFault(stage)
    await until(() => seen.length === 2)
    expect(seen).toEqual(['aborted true', 'rejected'])
    expect(await stage.rows('log')).toEqual([])
    expect(stage.reports()).toMatchObject([{ type: 'handler-timed-out' }])
  })

  on('other requests are served while a handler waits, and after it was cut off', async (open) => {
    const { ask, reports } = open(
      { log: loose(log), tasks: tasks({ events: { Insert: { before: never } } }) },
      { handlerTimeout: 50 },
    )
    const [stuck, read, write] = await Promise.all([
      ask('POST', '/tasks', task),
      ask('GET', '/log'),
      ask('POST', '/log', { id: 1 }),
    ])
    expect([stuck.status, read.status, write.status]).toEqual([500, 200, 200])
    expect(reports()).toMatchObject([{ type: 'handler-timed-out' }])
  })
})

describeOnStorages('events inside events', (on) => {
  on('a recursion without end responds 500', async (open) => {
    const stage = open({
      tasks: tasks({
        events: {
          Insert: {
            before: async ({ item, collection }) => {
              await collection('tasks').insert({
                id: Number(item.id) + 1,
                title: 'deeper',
              })
            },
          },
        },
      }),
    })
    await expectFault(stage)
    expect(stage.reports()).toMatchObject([{ type: 'handler-failed' }])
  })

  for (const [depth, status] of [
    [16, 200],
    [17, 500],
  ] as const) {
    on(`events nested ${depth} deep respond ${status}`, async (open) => {
      const stage = open({
        tasks: tasks({
          events: {
            Insert: {
              before: async ({ item, collection }) => {
                const next = Number(item.id) + 1
                if (next <= depth) await collection('tasks').insert({ id: next, title: 'deeper' })
              },
            },
          },
        }),
      })
      expect((await stage.ask('POST', '/tasks', task)).status).toBe(status)
      expect(await stage.rows('tasks')).toHaveLength(status === 200 ? depth : 0)
      expect(stage.reports()).toMatchObject(status === 200 ? [] : [{ type: 'handler-failed' }])
    })
  }

  on('a recursion of Filters without end responds 500', async (open) => {
    const { ask, reports } = open({
      tasks: tasks({
        events: {
          Filter: {
            before: async ({ find }) => {
              await find('tasks')
            },
          },
        },
      }),
    })
    expect((await ask('GET', '/tasks')).status).toBe(500)
    expect(reports()).toMatchObject([{ type: 'handler-failed' }])
  })

  const failing = (fail: 'throws' | 'objects'): CollectionDefinition =>
    loose(
      defineCollection(
        { key: 'id', fields: { id: integer(), line: text() } },
        {
          events: {
            Insert: {
              after: ({ error: object }) => {
                if (fail === 'throws') throw new Error('after')
                object('no more lines')
              },
            },
          },
        },
      ),
    )

  for (const fail of ['throws', 'objects'] as const) {
    on(
      `an inner event whose after handler ${fail} leaves nothing, even when the outer handler catches it`,
      async (open) => {
        const stage = open({
          log: failing(fail),
          tasks: tasks({
            events: {
              Insert: {
                before: async ({ collection }) => {
                  try {
                    await collection('log').insert({ id: 1 })
                  } catch {
                    // A handler that thinks it can go on.
                  }
                },
              },
            },
          }),
        })
        const { status } = await stage.ask('POST', '/tasks', task)
        expect(await stage.rows('log')).toEqual([])
        expect(await stage.rows('tasks')).toEqual([])
        expect(status).toBe(fail === 'throws' ? 500 : 400)
        expect(stage.reports()).toHaveLength(fail === 'throws' ? 1 : 0)
      },
    )
  }

  on('an inner save that is rejected before its write lets the outer one decide', async (open) => {
    const inner: unknown[] = []
    const { ask, rows } = open({
      log: loose(log),
      tasks: tasks({
        events: {
          Insert: {
            before: async ({ collection }) => {
              inner.push(await collection('log').insert({ id: null }))
            },
          },
        },
      }),
    })
    expect((await ask('POST', '/tasks', task)).status).toBe(200)
    expect(inner).toMatchObject([{ rejected: true, validations: [{ field: 'id' }] }])
    expect(await rows('tasks')).toHaveLength(1)
  })
})

describeOnStorages('a nested call that a handler does not await', (on) => {
  const careless: Record<string, CollectionBehaviour<TaskShape>> = {
    'and that fails': {
      events: {
        Insert: {
          before: async ({ collection }) => {
            void collection('log').filter({ nope: 1 })
            await new Promise((resolve) => setTimeout(resolve, 10))
          },
        },
      },
    },
    'and that is not done when the handler is': {
      events: {
        Insert: {
          before: ({ collection }) => {
            void collection('log').insert({ id: 1 })
          },
        },
      },
    },
    'to `find`, in a rule': {
      validations: [
        error('rule', {
          check: (_, { find }) => {
            void find('log', { nope: 1 } as never)
            return undefined
          },
        }),
      ],
    },
  }
  for (const [what, behaviour] of Object.entries(careless)) {
    on(`${what} is reported, and fails the event`, async (open) => {
      const rejections: unknown[] = []
      const listen = (reason: unknown): unknown => rejections.push(reason)
      process.on('unhandledRejection', listen)
      const stage = open({ log: loose(log), tasks: tasks(behaviour) })
      await expectFault(stage)
      expect(await stage.rows('log')).toEqual([])
      const [report, ...others] = stage.reports()
      expect(report).toMatchObject({ type: 'handler-failed' })
      expect(String((report as { error?: unknown }).error)).toContain('was not awaited')
      expect(others).toEqual([])
      await new Promise((resolve) => setTimeout(resolve, 20))
      process.off('unhandledRejection', listen)
      expect(rejections).toEqual([])
    })
  }

  on('concurrent calls that are awaited later are not an error', async (open) => {
    const stage = open({
      log: loose(log),
      tasks: tasks({
        events: {
          Insert: {
            before: async ({ collection }) => {
              const calls = [1, 2].map((id) => collection('log').insert({ id }))
              await Promise.all(calls)
              await collection('log')
                .filter({ nope: 1 })
                .catch(() => undefined)
            },
          },
        },
      }),
    })
    expect((await stage.ask('POST', '/tasks', task)).status).toBe(200)
    expect(await stage.rows('log')).toHaveLength(2)
  })
})
