import { expect } from 'vitest'

import { describeOnStorages } from '../kit/stage.ts'
import { loose, log, tasks } from './tasks.ts'
import { until } from '../kit/service.ts'

const task = { id: 1, title: 'one' }

describeOnStorages('the transaction of an event', (on) => {
  on('nested events share the transaction, and are undone with it', async (open) => {
    const { ask, rows } = open({
      log: loose(log),
      tasks: tasks({
        events: {
          Insert: {
            before: async ({ item, collection, find, error: object }) => {
              const lines = collection('log')
              await lines.insert({ id: item.id, line: 'before' })
              await lines.update(item.id, { line: 'updated' })
              expect(await lines.get(item.id as never)).toMatchObject({ line: 'updated' })
              expect(await find('log', { line: 'updated' })).toHaveLength(1)
              if (item.size === 0) object('no')
            },
            after: async ({ item, collection }) => {
              expect(await collection('tasks').get(item.id as never)).toEqual(item)
              if (item.size === 1) throw new Error('after')
            },
          },
        },
      }),
    })
    expect((await ask('POST', '/tasks', { ...task, size: 0 })).status).toBe(400)
    expect(await rows('log')).toEqual([])
    expect((await ask('POST', '/tasks', task)).status).toBe(200)
    expect(await rows('log')).toEqual([{ id: 1, line: 'updated' }])
    expect((await ask('POST', '/tasks', { id: 1, title: 'again' })).status).toBe(400)
  })

  on('a save that is rejected by storage undoes what its handler wrote', async (open) => {
    const { ask, rows } = open({
      log: loose(log),
      tasks: tasks({
        events: {
          Insert: {
            before: async ({ item, collection }) => {
              await collection('log').insert({ id: item.size, line: 'x' })
            },
          },
        },
      }),
    })
    expect((await ask('POST', '/tasks', { ...task, size: 1 })).status).toBe(200)
    expect((await ask('POST', '/tasks', { ...task, size: 2 })).status).toBe(400)
    expect((await rows('log')).map((row) => row['id'])).toEqual([1])
  })

  on('committed runs after the commit, and its failure is only reported', async (open) => {
    const seen: unknown[] = []
    const stage = open({
      tasks: tasks({
        events: {
          Insert: {
            committed: async ({ item, stored, event }) => {
              seen.push([event, stored, await stage.rows('tasks')])
              if (item.size === 1) throw new Error('mail server')
            },
          },
        },
      }),
    })
    expect((await stage.ask('POST', '/tasks', task)).status).toBe(200)
    await until(() => seen.length === 1)
    expect(seen).toEqual([['Insert', null, [{ ...task, state: 'new', size: null }]]])
    expect((await stage.ask('POST', '/tasks', { ...task, id: 2, size: 1 })).status).toBe(200)
    await stage.service.close()
    expect(stage.reports()).toMatchObject([
      { type: 'committed-handler-failed', place: { collection: 'tasks', event: 'Insert' } },
    ])
  })

  on('committed does not run for events that were not committed', async (open) => {
    const seen: unknown[] = []
    const { ask, service } = open({
      tasks: tasks({
        events: {
          Insert: {
            after: ({ item, error: object }) => {
              if (item.size === 1) object('no')
            },
            committed: ({ item }) => void seen.push(item.id),
          },
        },
      }),
    })
    await ask('POST', '/tasks', { ...task, size: 1 })
    await ask('POST', '/tasks', { ...task, id: 2 })
    await service.close()
    expect(seen).toEqual([2])
  })
})
