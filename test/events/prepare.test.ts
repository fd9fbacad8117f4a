import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  error,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
  type Handlers,
} from '../../src/entries/index.ts'
import { describeOnStorages } from '../kit/stage.ts'
import { expectFault, log, loose, taskFields, tasks, type TaskShape } from './tasks.ts'

const task = { id: 1, title: 'one' }

describeOnStorages('prepare', (on) => {
  for (const way of ['sync', 'async'])
    on(`the other handlers and the validations read what a ${way} one returns`, async (open) => {
      const seen: unknown[] = []
      const later = <Value>(value: Value) => (way === 'sync' ? value : Promise.resolve(value))
      const { ask } = open({
        tasks: tasks({
          validations: [
            error('rule', {
              events: ['Insert', 'Update', 'Delete'],
              check: (_item, { prepared }) => void seen.push(prepared),
            }),
          ],
          events: {
            Insert: {
              prepare: ({ values }) => later(`insert ${values.title}`),
              before: ({ prepared }) => void seen.push(prepared),
              after: ({ prepared }) => void seen.push(prepared),
            },
            Update: { prepare: { run: ({ key, values }) => later(`${key} ${values.title}`) } },
            Delete: { prepare: ({ key }) => later(`delete ${key}`) },
          },
        }),
      })
      expect((await ask('POST', '/tasks', task)).status).toBe(200)
      expect((await ask('POST', '/tasks/1', { title: 'two' })).status).toBe(200)
      expect((await ask('DELETE', '/tasks/1')).status).toBe(200)
      expect(seen).toEqual(['insert one', 'insert one', 'insert one', '1 two', 'delete 1'])
    })

  on('prepare of Save runs for Insert, with a null key, and for Update', async (open) => {
    const seen: unknown[] = []
    const { ask } = open({
      tasks: tasks({
        events: {
          Save: { prepare: ({ key }) => key },
          Insert: { before: ({ prepared }) => void seen.push(prepared) },
          Update: { before: ({ prepared }) => void seen.push(prepared) },
        },
      }),
    })
    await ask('POST', '/tasks', task)
    await ask('POST', '/tasks/1', { title: 'two' })
    expect(seen).toEqual([null, 1])
  })

  on('other writers do not wait for it', async (open) => {
    let go: (value?: unknown) => void = () => undefined
    const wait = new Promise((resolve) => (go = resolve))
    const { ask } = open({
      log: loose(log),
      tasks: tasks({ events: { Insert: { prepare: () => wait } } }),
    })
    const waiting = ask('POST', '/tasks', task)
    expect((await ask('POST', '/log', { id: 1 })).status).toBe(200)
    go()
    expect((await waiting).status).toBe(200)
  })

  on(
    'its findings become findings of the event, which continues after error(...)',
    async (open) => {
      const { ask, rows } = open({
        tasks: tasks({
          events: {
            Insert: {
              prepare: ({ error: add, warning, information }) => {
                add('Not now.', 'size')
                warning('late', 'It is late.')
                information('Checked.')
              },
              before: ({ error: add }) => {
                add('Not this.', 'title')
              },
            },
          },
        }),
      })
      const { status, body } = await ask('POST', '/tasks', task)
      expect([status, body.validations.map(({ message }) => message)]).toEqual([
        400,
        ['Not this.', 'Not now.', 'It is late.', 'Checked.'],
      ])
      expect(await rows('tasks')).toEqual([])
    },
  )

  on('reject(...) ends the event before its transaction', async (open) => {
    const never = () => {
      throw new Error('must not run')
    }
    const events: Handlers<TaskShape> = {
      Save: {
        prepare: ({ reject, information }) => {
          information('Checked.')
          reject('Not now.', 'title')
        },
        before: never,
      },
      Delete: { prepare: ({ reject }) => reject('Never.'), before: never },
    }
    const { ask } = open({ tasks: tasks({ events }) })
    expect((await ask('POST', '/tasks', task)).body).toEqual({
      item: task,
      message: 'The changes could not be saved.',
      validations: [
        { message: 'Not now.', severity: 'error', field: 'title' },
        { message: 'Checked.', severity: 'information' },
      ],
      status: 200,
    })
    expect((await ask('DELETE', '/tasks/1')).body).toMatchObject({
      message: 'The item could not be deleted.',
      validations: [{ message: 'Never.' }],
    })
  })

  on('a warning of prepare is confirmed like any other', async (open) => {
    const { ask, rows } = open({
      tasks: tasks({
        events: {
          Insert: {
            prepare: ({ warning }) => {
              warning('late', 'It is late.')
            },
          },
        },
      }),
    })
    const first = await ask('POST', '/tasks', task)
    expect([first.status, first.body.message]).toEqual([400, 'The changes need confirmation.'])
    const id = first.body.validations[0]?.validationId ?? ''
    expect((await ask('POST', '/tasks', task, `"${id}"`)).status).toBe(200)
    expect(await rows('tasks')).toHaveLength(1)
  })

  on('it does not run for values of a wrong type', async (open) => {
    const { ask } = open({
      tasks: tasks({
        events: {
          Insert: {
            prepare: () => {
              throw new Error('must not run')
            },
          },
        },
      }),
    })
    expect((await ask('POST', '/tasks', { ...task, size: 'big' })).status).toBe(400)
  })

  on('it runs for an item that does not exist, which is 404 after it', async (open) => {
    const keys: unknown[] = []
    const prepare = ({ key }: { readonly key: unknown }) => keys.push(key)
    const { ask } = open({ tasks: tasks({ events: { Update: { prepare }, Delete: { prepare } } }) })
    expect((await ask('POST', '/tasks/7', { title: 'two' })).status).toBe(404)
    expect((await ask('DELETE', '/tasks/8')).status).toBe(404)
    expect(keys).toEqual([7, 8])
  })

  on('it reads other collections, each with its own read', async (open) => {
    const { ask } = open({
      log: loose(log),
      tasks: tasks({
        events: {
          Insert: {
            prepare: async ({ find, system }) => [
              (await find('log')).length,
              (await system.find('log', { id: 1 })).length,
            ],
            before: ({ item, prepared }) => {
              item.title = String(prepared)
            },
          },
        },
      }),
    })
    await ask('POST', '/log', { id: 1 })
    await ask('POST', '/log', { id: 2 })
    expect((await ask('POST', '/tasks', task)).body.item).toMatchObject({ title: '2,1' })
  })

  for (const [what, prepare] of Object.entries({
    'an error that it throws': () => {
      throw new Error('broken')
    },
    'a promise that it rejects': () => Promise.reject(new Error('broken')),
    'a call that it does not await': ({ find }: { readonly find: (name: string) => unknown }) => {
      void find('tasks')
    },
  }))
    on(`${what} is a 500 and a report`, async (open) => {
      const stage = open({ tasks: tasks({ events: { Insert: { prepare } } }) })
      await expectFault(stage)
      expect(stage.reports()).toMatchObject([
        {
          type: 'handler-failed',
          place: { application: 'app', collection: 'tasks', event: 'Insert' },
          name: 'prepare',
        },
      ])
    })

  on('it is cut off after the time limit of handlers, and its signal is aborted', async (open) => {
    let signal: AbortSignal | undefined
    const never = (context: { readonly signal: AbortSignal }) => {
      signal = context.signal
      return new Promise<never>(() => undefined)
    }
    const stage = open(
      { tasks: tasks({ events: { Insert: { prepare: never } } }) },
      { handlerTimeout: 20 },
    )
    await expectFault(stage)
    expect(signal?.aborted).toBe(true)
    expect(stage.reports()).toMatchObject([{ type: 'handler-timed-out', name: 'prepare' }])
  })

  on('what it reports reaches the application, and the event continues', async (open) => {
    const { ask, reports } = open({
      tasks: tasks({
        events: {
          Insert: {
            prepare: ({ report }) => {
              report(new Error('unreachable'))
            },
          },
        },
      }),
    })
    expect((await ask('POST', '/tasks', task)).status).toBe(200)
    expect(reports()).toEqual([
      {
        type: 'prepare-failed',
        place: { application: 'app', collection: 'tasks', event: 'Insert' },
        error: new Error('unreachable'),
      },
    ])
  })

  on('an event in a transaction has a result of its own, and sees its writes', async (open) => {
    const seen: unknown[] = []
    const inner = defineCollection(
      { key: 'id', fields: { id: integer() } },
      {
        events: {
          Insert: {
            prepare: async ({ find }) => `inner ${(await find('tasks')).length}`,
            after: ({ prepared }) => void seen.push(prepared),
          },
        },
      },
    )
    const plain = defineCollection(
      { key: 'id', fields: { id: integer() } },
      { events: { Insert: { after: (event) => void seen.push(event.prepared) } } },
    )
    const { ask, service } = open({
      inner: loose(inner),
      plain: loose(plain),
      tasks: tasks({
        events: {
          Insert: {
            prepare: () => 'outer',
            after: async ({ collection, prepared }) => {
              await collection('inner').insert({ id: 1 })
              await collection('plain').insert({ id: 1 })
              seen.push(prepared)
            },
          },
        },
      }),
    })
    expect((await ask('POST', '/tasks', task)).status).toBe(200)
    expect(seen.splice(0)).toEqual(['inner 1', undefined, 'outer'])
    await service.as(principal('maria')).transaction(async ({ collection }) => {
      await collection('app', 'tasks').delete(1)
      await collection('app', 'inner').insert({ id: 2 })
    })
    expect(seen).toEqual(['inner 0'])
  })

  on('a rejection in a transaction is a result of the inner event', async (open) => {
    const closed = defineCollection(
      { key: 'id', fields: { id: integer() } },
      { events: { Insert: { prepare: ({ reject }) => reject('Closed.') } } },
    )
    const seen: unknown[] = []
    const { ask } = open({
      closed: loose(closed),
      tasks: tasks({
        events: {
          Insert: {
            after: async ({ collection }) => {
              const saved = await collection('closed').insert({ id: 1 })
              seen.push(saved.rejected && saved.validations[0]?.message)
            },
          },
        },
      }),
    })
    expect((await ask('POST', '/tasks', task)).status).toBe(200)
    expect(seen).toEqual(['Closed.'])
  })

  on('it does not run in a Change', async (open) => {
    const seen: unknown[] = []
    const { service } = open({
      tasks: tasks({
        validations: [error('rule', { check: (_item, { prepared }) => void seen.push(prepared) })],
        events: { Insert: { prepare: () => 'outer' } },
      }),
    })
    await service.ready()
    await service.as(principal('maria')).collection('app', 'tasks').change(task)
    expect(seen).toEqual([undefined])
  })

  on('it runs for a collection that functions serve', async (open) => {
    const served = defineCollection(
      { key: 'id', fields: { id: integer(), title: text() } },
      {
        serve: { get: () => undefined, insert: ({ item }) => ({ ...item }) },
        events: {
          Insert: {
            prepare: ({ values }) => `${values.title}!`,
            before: ({ item, prepared }) => {
              item.title = prepared
            },
          },
        },
      },
    )
    const { ask } = open({ served: loose(served) })
    const { body } = await ask('POST', '/served', { id: 1, title: 'one' })
    expect(body.item).toEqual({ id: 1, title: 'one!' })
  })

  on('a composite key is an array, in the form of items', async (open) => {
    const keys: unknown[] = []
    const pairs = defineCollection(
      { key: ['name', 'no'], fields: { name: text(), no: integer() } },
      { events: { Delete: { prepare: ({ key }) => void keys.push(key) } } },
    )
    const { ask } = open({ pairs: loose(pairs) })
    await ask('DELETE', '/pairs/a,2')
    expect(keys).toEqual([['a', 2]])
  })
})

test('a definition has prepare for Save, or for Insert and Update', () => {
  const prepare = () => 1
  const define = (events: Handlers<TaskShape>) => () =>
    createService({
      applications: {
        app: {
          collections: { tasks: defineCollection({ key: 'id', fields: taskFields }, { events }) },
        },
      },
      storage: memoryStorage(),
      security: openAccess(),
    })
  const both = define({ Save: { prepare }, Insert: { prepare }, Update: { prepare } })
  for (const event of ['Insert', 'Update']) {
    expect(both).toThrow(`events.${event}.prepare: Save has prepare already`)
  }
  expect(define({ Insert: { prepare: 1 as never } })).toThrow('events.Insert.prepare')
})
