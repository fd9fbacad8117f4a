import { expect } from 'vitest'
import { defineCollection, integer, ServiceError, system } from '../../src/entries/index.ts'
import { until } from '../kit/service.ts'
import { describeOnStorages } from '../kit/stage.ts'
import { idsIn, log, loose, tasks, tasksOf, threeTasks } from './tasks.ts'

const items = threeTasks

describeOnStorages('handlers of several saves in one transaction', (on) => {
  on('runs the handlers of each item, and committed after the commit', async (open) => {
    const seen: unknown[] = []
    const stage = open({
      log: loose(log),
      tasks: tasks({
        events: {
          Insert: {
            before: ({ item }) => void (item.size = (item.size ?? 0) * 10),
            after: async ({ item, collection }) => {
              await collection(log).insert({ id: item.id, line: item.title })
            },
            committed: ({ item }) => void seen.push(item.id),
          },
        },
      }),
    })
    await tasksOf(stage).insertMany(items)
    expect((await stage.rows('tasks')).map(({ size }) => size)).toEqual([10, 10, 20])
    expect(await stage.rows('log')).toHaveLength(3)
    await until(() => seen.length === 3)
    expect(seen).toEqual([1, 2, 3])
  })

  on('rolls everything back if a handler rejects after the write, or throws', async (open) => {
    const stage = open(
      {
        tasks: tasks({
          events: {
            Insert: {
              after: ({ item, reject }) => {
                if (item.id === 2) reject('too late', 'title')
                if (item.id === 3) throw new Error('broken')
                if (item.id === 4) throw new ServiceError('ITEM_IN_USE', 'not now')
              },
            },
          },
        }),
      },
      { ignoredReport: 'handler-failed' },
    )
    const access = tasksOf(stage)
    expect(await access.insertMany(items)).toMatchObject({
      rejected: true,
      validations: [{ index: 1, key: null, message: 'too late', field: 'title' }],
    })
    const [first, , third] = items as [(typeof items)[0], unknown, (typeof items)[0]]
    await expect(access.insertMany([first, third])).rejects.toMatchObject({ code: 'INTERNAL' })
    await expect(access.insertMany([first, { ...third, id: 4 }])).rejects.toThrow('not now')
    expect(await idsIn(stage)).toEqual([])
  })

  on('skips an item that a handler of an earlier one has deleted', async (open) => {
    const stage = open({
      tasks: tasks({
        events: {
          Delete: {
            after: async ({ item, collection }) => {
              if (item.id === 1) await collection('tasks').delete(2)
            },
          },
        },
      }),
    })
    await tasksOf(stage).insertMany(items)
    expect(await tasksOf(stage).deleteMany({ size: 1 })).toMatchObject({
      rejected: false,
      items: [{ id: 1 }],
    })
    expect(await idsIn(stage)).toEqual([3])
  })

  on('lists the items for which a handler called fail', async (open) => {
    const stage = open({
      tasks: tasks({
        events: {
          Insert: {
            after: ({ item, fail }) => {
              if (item.id === 2) fail('declined')
            },
          },
        },
      }),
    })
    expect(await tasksOf(stage).insertMany(items)).toMatchObject({
      rejected: false,
      items: [{ id: 1 }, { id: 2 }, { id: 3 }],
      failures: [{ index: 1, message: 'declined' }],
    })
  })

  on('calls prepare of every item before the transaction opens', async (open) => {
    const order: string[] = []
    const stage = open({
      tasks: tasks({
        events: {
          Save: {
            prepare: async ({ values, key, reject }) => {
              await Promise.resolve()
              order.push(`prepare ${String(key)}`)
              return values.title === 'no' ? reject('not that title', 'title') : values.title
            },
            before: ({ prepared, stored }) => {
              order.push(`before ${String(stored?.id ?? null)} ${String(prepared)}`)
            },
          },
        },
      }),
    })
    const access = tasksOf(stage)
    await access.insertMany(items)
    order.length = 0
    expect(await access.updateMany({ size: 1 }, { title: 'yes' })).toMatchObject({
      rejected: false,
    })
    expect(order).toEqual(['prepare 1', 'prepare 2', 'before 1 yes', 'before 2 yes'])
    order.length = 0
    expect(await access.updateMany({ size: 1 }, { title: 'no' })).toMatchObject({
      rejected: true,
      validations: [
        { index: 0, key: 1, message: 'not that title' },
        { index: 1, key: 2 },
      ],
    })
    expect(order).toEqual(['prepare 1', 'prepare 2'])
  })

  on('takes part in the transaction of a handler, even if the handler catches it', async (open) => {
    const stage = open({
      log: loose(log),
      tasks: tasks({
        events: {
          Insert: {
            after: async ({ item, collection }) => {
              const lines = [{ id: 1 }, { id: item.size ?? 0 }]
              await collection(log)
                .insertMany(lines)
                .catch(() => undefined)
            },
          },
        },
      }),
    })
    expect((await stage.ask('POST', '/tasks', { ...items[2], size: 1 })).body).toMatchObject({
      validations: [{ message: 'Another item of log has this id.' }],
    })
    expect(await stage.rows('log')).toEqual([])
    expect(await idsIn(stage)).toEqual([])
    expect((await stage.ask('POST', '/tasks', items[2])).status).toBe(200)
    expect(await stage.rows('log')).toHaveLength(2)
  })

  on('skips an item that was deleted with the one that it refers to', async (open) => {
    const nodes = defineCollection({
      key: 'id',
      fields: { id: integer(), parent: integer({ references: 'nodes', onDelete: 'cascade' }) },
    })
    const stage = open({ nodes: loose(nodes) })
    const access = stage.service.as(system).collection('app', 'nodes')
    const tree = [{ id: 1 }, { id: 2, parent: 1 }, { id: 3, parent: 2 }]
    expect(await access.insertMany(tree as never)).toMatchObject({ rejected: false })
    expect(await access.deleteMany({})).toMatchObject({ rejected: false, items: [{ id: 1 }] })
    expect(await stage.rows('nodes')).toEqual([])
  })

  on('rejects a list with an item that refers to nothing', async (open) => {
    const nodes = defineCollection({
      key: 'id',
      fields: { id: integer(), parent: integer({ references: 'nodes' }) },
    })
    const stage = open({ nodes: loose(nodes) })
    const access = stage.service.as(system).collection('app', 'nodes')
    const tree = [{ id: 1 }, { id: 2, parent: 1 }, { id: 3, parent: 4 }]
    expect(await access.insertMany(tree as never)).toMatchObject({
      rejected: true,
      validations: [{ index: 2, field: 'parent' }],
    })
    expect(await stage.rows('nodes')).toEqual([])
  })
})
