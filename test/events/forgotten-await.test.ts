import { expect } from 'vitest'
import {
  defineCollection,
  error,
  type CollectionAccess,
  type CollectionBehaviour,
  type CollectionDefinition,
  type CollectionShape,
  type HandlerContext,
} from '../../src/entries/index.ts'
import { describeOnStorages, type Open, type Stage } from '../kit/stage.ts'
import { loose, maria, taskFields, tasks, type TaskShape } from './tasks.ts'

type Access = CollectionAccess<CollectionShape>

/** Calls of another collection that handlers forget to await. The update of the item 1 is rejected. */
const calls: Readonly<Record<string, (stock: Access) => Promise<unknown>>> = {
  'a rejected update': (stock) => stock.update(1, { title: 'closed' }),
  'an update': (stock) => stock.update(1, { title: 'other' }),
  'an insert': (stock) => stock.insert({ id: 9, title: 'new' }),
  'a rejected insert': (stock) => stock.insert({ id: 1, title: 'taken' }),
  'a delete': (stock) => stock.delete(1),
  'several updates': (stock) => stock.updateMany({}, { title: 'closed' }),
  'a read': (stock) => stock.get(1),
  'a preview': (stock) => stock.change({ title: 'closed' }, 1),
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 20))

/** What an async handler does after the call. */
const endings: Readonly<Record<string, (stock: Access) => unknown>> = {
  'at once': () => undefined,
  'after a turn': () => null,
  'once the call has ended': pause,
  'after another call': (stock) => stock.get(1),
}

const stock = defineCollection(
  { key: 'id', fields: taskFields },
  {
    validations: [
      error('closed', {
        field: 'title',
        check: ({ title }) => (title === 'closed' ? 'It is closed.' : undefined),
      }),
    ],
  },
)
const item = { id: 1, title: 'one' }

/** A service whose stock has one item. Application code forgets a call of it. */
async function staged(open: Open, behaviour: CollectionBehaviour<TaskShape>): Promise<Stage> {
  const stage = open({ stock: loose(stock), tasks: tasks(behaviour) })
  const access = stage.service.as(maria).collection('app', 'stock')
  expect(await access.insert(item)).toMatchObject({ rejected: false })
  return stage
}

/** Checks that a call failed because of a call that was not awaited, and that nothing was changed. */
async function expectForgotten(stage: Stage, tasksBefore: readonly object[] = []): Promise<void> {
  const [report, ...others] = stage.reports()
  expect(report).toMatchObject({ type: 'handler-failed' })
  expect(String((report as { readonly error?: unknown }).error)).toContain('was not awaited')
  expect(others).toEqual([])
  await pause()
  expect(await stage.rows('stock')).toMatchObject([item])
  expect(await stage.rows('stock')).toHaveLength(1)
  expect(await stage.rows('tasks')).toEqual(tasksBefore)
}

describeOnStorages('a call that an async handler does not await', (on) => {
  for (const [what, call] of Object.entries(calls)) {
    for (const [when, end] of Object.entries(endings)) {
      on(`${what}, fails its event if the handler ends ${when}`, async (open) => {
        for (const moment of ['before', 'after'] as const) {
          const stage = await staged(open, {
            events: {
              Insert: {
                [moment]: async ({ collection }: HandlerContext) => {
                  void call(collection('stock'))
                  await end(collection('stock'))
                },
              },
            },
          })
          expect((await stage.ask('POST', '/tasks', item)).status).toBe(500)
          await expectForgotten(stage)
        }
      })
    }
  }
})

const forgotten = async ({ collection }: Pick<HandlerContext, 'collection'>): Promise<void> => {
  void collection('stock').update(1, { title: 'closed' })
  await pause()
}
const task = { id: 7, title: 'seven', state: 'new', size: null }

/** Code of other kinds that forgets a call, and the request or call that runs it. */
const places: Readonly<
  Record<string, readonly [CollectionBehaviour<TaskShape>, (stage: Stage) => Promise<unknown>]>
> = {
  'before of an update': [
    { events: { Update: { before: forgotten } } },
    ({ ask }) => ask('POST', '/tasks/7', { title: 'x' }),
  ],
  'after of a delete': [
    { events: { Delete: { before: forgotten } } },
    ({ ask }) => ask('DELETE', '/tasks/7'),
  ],
  'before of a filter': [
    { events: { Filter: { before: forgotten } } },
    ({ ask }) => ask('GET', '/tasks'),
  ],
  'after of a filter': [
    { events: { Filter: { after: forgotten } } },
    ({ ask }) => ask('GET', '/tasks'),
  ],
  'an item that is read': [
    { events: { Filter: { after: forgotten } } },
    ({ ask }) => ask('GET', '/tasks/7'),
  ],
  'a rule': [
    {
      validations: [
        error('rule', {
          events: ['Update'],
          check: async (_, { find }) => {
            void find('stock')
            await pause()
          },
        }),
      ],
    },
    ({ ask }) => ask('POST', '/tasks/7', { title: 'x' }),
  ],
  prepare: [
    {
      events: {
        Update: {
          prepare: async ({ find }) => {
            void find('stock')
            await pause()
          },
        },
      },
    },
    ({ ask }) => ask('POST', '/tasks/7', { title: 'x' }),
  ],
  'New.after': [
    { events: { New: { after: forgotten } } },
    ({ service }) => service.as(maria).collection('app', 'tasks').new().catch(failed),
  ],
}

const failed = (reason: unknown): unknown => {
  expect(reason).toMatchObject({ code: 'INTERNAL' })
  return { status: 500 }
}

describeOnStorages('a call that is not awaited', (on) => {
  for (const [place, [behaviour, run]] of Object.entries(places)) {
    on(`in ${place} fails the event`, async (open) => {
      const stage = await staged(open, behaviour)
      const access = stage.service.as(maria).collection('app', 'tasks')
      await access.insert({ id: 7, title: 'seven' })
      expect(await run(stage)).toMatchObject({ status: 500 })
      await expectForgotten(stage, [task])
    })
  }

  on('in a user-defined event fails it', async (open) => {
    const counted = defineCollection(
      { key: 'id', fields: taskFields },
      {
        userDefinedEvents: {
          close: async ({ collection, own }) => {
            await own.insert({ id: 8, title: 'eight' })
            await forgotten({ collection })
          },
          own: async ({ own }) => {
            void own.insert({ id: 9, title: 'nine' })
            await pause()
          },
        },
      },
    )
    const stage = open({ stock: loose(stock), tasks: loose(counted) })
    const all = stage.service.as(maria)
    await all.collection('app', 'stock').insert(item)
    const access = all.collection('app', 'tasks') as unknown as {
      invoke(name: string): Promise<unknown>
    }
    for (const name of ['close', 'own']) {
      await expect(access.invoke(name)).rejects.toMatchObject({ code: 'INTERNAL' })
      await expectForgotten(stage)
    }
  })

  on('in a transaction of application code rolls it back', async (open) => {
    const stage = await staged(open, {})
    for (const [what, call] of Object.entries(calls)) {
      for (const end of Object.values(endings)) {
        const work = stage.service.as(maria).transaction(async ({ collection }) => {
          const access = collection('app', 'stock') as unknown as Access
          await collection('app', 'tasks').insert({ id: 5, title: 'five' })
          void call(access)
          await end(access)
        })
        await expect(work, what).rejects.toThrow('was not awaited')
        expect(await stage.rows('tasks')).toEqual([])
        expect(await stage.rows('stock')).toHaveLength(1)
      }
    }
  })

  on('in a nested event fails the outer one, which catches the error', async (open) => {
    const inner = defineCollection(
      { key: 'id', fields: taskFields },
      { events: { Insert: { before: forgotten } } },
    )
    const outer = tasks({
      events: {
        Insert: {
          before: async ({ collection }) => {
            await collection('inner')
              .insert({ id: 1, title: 'x' })
              .catch(() => undefined)
          },
        },
      },
    })
    const stage = open({ stock: loose(stock), inner: loose(inner), tasks: outer })
    await stage.service.as(maria).collection('app', 'stock').insert(item)
    expect((await stage.ask('POST', '/tasks', item)).status).toBe(500)
    await expectForgotten(stage)
    expect(await stage.rows('inner')).toEqual([])
  })

  on('by a handler that rejects its event fails it', async (open) => {
    const stage = await staged(open, {
      events: {
        Insert: {
          before: async ({ collection, reject }) => {
            void collection('stock').update(1, { title: 'other' })
            await Promise.resolve()
            reject('No.')
          },
        },
      },
    })
    expect((await stage.ask('POST', '/tasks', item)).status).toBe(500)
    await expectForgotten(stage)
  })

  on('in a function that serves a collection fails its event', async (open) => {
    const served = defineCollection(
      { key: 'id', fields: taskFields },
      {
        serve: {
          filter: async (call) => {
            await forgotten(call)
            return []
          },
        },
      },
    ) as unknown as CollectionDefinition
    const stage = open({ stock: loose(stock), tasks: tasks(), served })
    await stage.service.as(maria).collection('app', 'stock').insert(item)
    expect((await stage.ask('GET', '/served')).status).toBe(500)
    await expectForgotten(stage)
  })
})

describeOnStorages('a call that something waits for', (on) => {
  on('has ended before the event goes on, whether the handler awaits it or not', async (open) => {
    const seen: unknown[] = []
    const stage = await staged(open, {
      events: {
        Insert: {
          before: ({ collection }) => {
            void collection('stock')
              .update(1, { title: 'closed' })
              .then((result) => seen.push(result?.rejected))
            void collection('stock')
              .update(1, { title: 'other' })
              .then(async () => collection('stock').insert({ id: 2, title: 'two' }))
          },
          after: async ({ collection }) => {
            seen.push(await collection('stock').get(1))
          },
        },
      },
    })
    expect((await stage.ask('POST', '/tasks', item)).status).toBe(200)
    expect(seen).toMatchObject([true, { id: 1, title: 'other' }])
    expect(await stage.rows('stock')).toMatchObject([{ title: 'other' }, { id: 2 }])
  })

  on('has ended before the event goes on if another one of Promise.all fails', async (open) => {
    const stage = await staged(open, {
      events: {
        Insert: {
          before: async ({ collection }) => {
            await Promise.all([
              collection('stock').filter({ nope: 1 }),
              collection('stock').update(1, { title: 'other' }),
            ]).catch(() => undefined)
          },
        },
      },
    })
    expect((await stage.ask('POST', '/tasks', item)).status).toBe(200)
    expect(await stage.rows('stock')).toMatchObject([{ id: 1, title: 'other' }])
  })

  on('is rolled back with the rejection of its handler', async (open) => {
    const stage = await staged(open, {
      events: {
        Insert: {
          before: async ({ collection, reject }) => {
            const update = collection('stock').update(1, { title: 'other' })
            update.catch(() => undefined)
            await Promise.resolve()
            reject('No.')
          },
        },
      },
    })
    expect((await stage.ask('POST', '/tasks', item)).status).toBe(400)
    expect(await stage.rows('stock')).toMatchObject([item])
  })
})
