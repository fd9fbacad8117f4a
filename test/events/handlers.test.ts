import { expect } from 'vitest'
import { error, principal, warning, type CollectionBehaviour } from '../../src/entries/index.ts'
import { describeOnStorages } from '../kit/stage.ts'
import { tasks, type TaskShape } from './tasks.ts'

const task = { id: 1, title: 'one' }

function traced(trace: string[]): CollectionBehaviour<TaskShape> {
  const note = (step: string) => (): void => void trace.push(step)
  return {
    validations: [
      error('first', {
        events: ['Insert', 'Update', 'Delete'],
        check: (_item, { event }) => void trace.push(`${event} rule`),
      }),
      warning('second', { check: note('second rule') }),
    ],
    events: {
      Filter: { before: note('Filter before'), after: note('Filter after') },
      Insert: {
        before: note('Insert before'),
        after: note('Insert after'),
        committed: note('Insert committed'),
      },
      Update: {
        before: note('Update before'),
        after: note('Update after'),
        committed: note('Update committed'),
      },
      Delete: {
        before: note('Delete before'),
        after: note('Delete after'),
        committed: note('Delete committed'),
      },
    },
  }
}

describeOnStorages('handlers', (on) => {
  on('run in the order before, rules, write, after, committed', async (open) => {
    const trace: string[] = []
    const { ask } = open({ tasks: tasks(traced(trace)) })
    const steps = async (method: string, path: string, body?: unknown) => {
      trace.length = 0
      expect((await ask(method, path, body)).status).toBe(200)
      return trace.join(', ')
    }
    expect(await steps('POST', '/tasks', task)).toBe(
      'Insert before, Insert rule, second rule, Insert after, Insert committed',
    )
    expect(await steps('POST', '/tasks/1', { title: 'x' })).toBe(
      'Update before, Update rule, second rule, Update after, Update committed',
    )
    expect(await steps('GET', '/tasks')).toBe('Filter before, Filter after')
    expect(await steps('GET', '/tasks/1')).toBe('Filter before, Filter after')
    expect(await steps('DELETE', '/tasks/1')).toBe(
      'Delete before, Delete rule, Delete after, Delete committed',
    )
  })

  on('do not run when a value has a wrong type, size or name', async (open) => {
    const trace: string[] = []
    const { ask } = open({ tasks: tasks(traced(trace)) })
    for (const wrong of [{ title: 5 }, { title: 'x'.repeat(21) }, { nope: 1 }, { state: 'mine' }]) {
      expect((await ask('POST', '/tasks', { ...task, ...wrong })).status).toBe(400)
    }
    expect((await ask('POST', '/tasks/9', {})).status).toBe(404)
    expect((await ask('DELETE', '/tasks/9')).status).toBe(404)
    expect(trace).toEqual([])
  })

  on('before may change the item, read-only fields too, and is checked after it', async (open) => {
    const { ask } = open({
      tasks: tasks({
        events: {
          Insert: {
            before: ({ item }) => {
              item.state = `from ${String(item.title)}`
              item.size ??= 3
              if (item.title === 'long') item.title = 'x'.repeat(21)
              if (item.title === 'none') item.title = null
            },
          },
          Update: {
            before: ({ item, stored }) => {
              item.size = (stored.size ?? 0) + 1
            },
          },
        },
      }),
    })
    expect((await ask('POST', '/tasks', task)).body.item).toEqual({
      ...task,
      state: 'from one',
      size: 3,
    })
    expect((await ask('POST', '/tasks/1', { title: 'two' })).body.item).toMatchObject({ size: 4 })
    for (const title of ['long', 'none']) {
      const { status, body } = await ask('POST', '/tasks', { id: 2, title })
      expect(status).toBe(400)
      expect(body.item).toEqual({ id: 2, title })
      expect(body.validations).toMatchObject([{ severity: 'error', field: 'title' }])
    }
  })

  on('a before handler cannot empty a required field that the request leaves out', async (open) => {
    const { ask, rows } = open({
      tasks: tasks({ events: { Update: { before: ({ item }) => void (item.title = null) } } }),
    })
    expect((await ask('POST', '/tasks', task)).status).toBe(200)
    const { status, body } = await ask('POST', '/tasks/1', { size: 5 })
    expect(status).toBe(400)
    expect(body.validations).toEqual([
      { message: 'title is required.', severity: 'error', field: 'title' },
    ])
    expect(await rows('tasks')).toMatchObject([{ title: 'one', size: null }])
  })

  on('Filter before narrows pages, counts and items, and never widens', async (open) => {
    const { ask, service } = open({
      tasks: tasks({ events: { Filter: { before: ({ where }) => where({ size: 1 }) } } }),
    })
    for (const id of [1, 2, 3]) await ask('POST', '/tasks', { id, title: 't', size: id % 2 })
    const page = await ask('GET', '/tasks?$count=true')
    expect(page.body.items?.map((item) => item['id'])).toEqual([1, 3])
    expect(page.body.count).toBe(2)
    expect((await ask('GET', '/tasks?size=0')).body.items).toEqual([])
    expect((await ask('GET', '/tasks/2')).status).toBe(404)
    expect((await ask('GET', '/tasks/1')).status).toBe(200)
    const own = service.as(principal('x')).collection('app', 'tasks')
    expect(await own.get(2)).toBeUndefined()
  })

  on('Filter before with an undefined condition fails instead of widening', async (open) => {
    const missing = undefined as unknown as number
    const { ask, reports } = open({
      tasks: tasks({ events: { Filter: { before: ({ where }) => where({ size: missing }) } } }),
    })
    expect((await ask('GET', '/tasks')).status).toBe(500)
    expect(reports()).toMatchObject([{ type: 'handler-failed', name: 'before' }])
  })

  on('Filter after may change what the response shows, and not what is stored', async (open) => {
    const { ask, rows } = open({
      tasks: tasks({
        events: {
          Filter: {
            after: ({ items }) => {
              for (const item of items) item.title = `${String(item.title)}!`
            },
          },
        },
      }),
    })
    await ask('POST', '/tasks', task)
    expect((await ask('GET', '/tasks?$fields=title')).body.items).toEqual([{ title: 'one!' }])
    expect((await ask('GET', '/tasks/1')).body.item).toMatchObject({ title: 'one!', id: 1 })
    expect(await rows('tasks')).toMatchObject([{ title: 'one' }])
  })

  on('add results of each severity', async (open) => {
    const { ask, rows } = open({
      tasks: tasks({
        events: {
          Insert: {
            before: (event) => {
              if (event.item.size === 1) event.information('noted', 'size')
              if (event.item.size === 2) event.warning('big', 'too big?', 'size')
              if (event.item.size === 3) event.error('too big', 'size')
            },
            after: (event) => {
              if (event.item.size === 4) event.error('no', 'size')
              if (event.item.size === 5) event.warning('late', 'sure?')
            },
          },
        },
      }),
    })
    const insert = (size: number, ignored?: string) =>
      ask('POST', '/tasks', { id: size, title: 't', size }, ignored)
    const noted = await insert(1)
    expect([noted.status, noted.body.validations]).toEqual([
      200,
      [{ message: 'noted', severity: 'information', field: 'size' }],
    ])
    for (const size of [2, 5]) {
      const held = await insert(size)
      expect([held.status, held.body.status]).toEqual([400, 400])
      expect(await rows('tasks')).toHaveLength(size === 2 ? 1 : 2)
      const id = held.body.validations[0]?.validationId ?? ''
      expect((await insert(size, `"${id}"`)).status).toBe(200)
    }
    for (const size of [3, 4]) {
      const rejected = await insert(size)
      expect([rejected.status, rejected.body.status]).toEqual([400, 200])
      expect(rejected.body.validations).toMatchObject([{ severity: 'error', field: 'size' }])
    }
    expect((await rows('tasks')).map((row) => row['id'])).toEqual([1, 2, 5])
  })

  on('reject ends the event at once, in every handler', async (open) => {
    const trace: string[] = []
    const { ask, rows } = open({
      tasks: tasks({
        validations: [error('rule', { check: () => void trace.push('rule') })],
        events: {
          Filter: { before: (event) => event.reject('closed') },
          Insert: {
            before: ({ item, reject }) => {
              if (item.size === 0) reject('no', 'size')
            },
          },
          Update: { after: ({ reject }) => reject('never') },
          Delete: { before: ({ reject, stored }) => reject(`keep ${stored.title}`) },
        },
      }),
    })
    const rejected = await ask('POST', '/tasks', { ...task, size: 0 })
    expect(rejected.body).toMatchObject({
      validations: [{ message: 'no', severity: 'error', field: 'size' }],
      status: 200,
    })
    expect(trace).toEqual([])
    expect((await ask('POST', '/tasks', task)).status).toBe(200)
    const before = await rows('tasks')
    for (const [method, path, body] of [
      ['GET', '/tasks'],
      ['GET', '/tasks/1'],
      ['POST', '/tasks/1', { title: 'x' }],
      ['DELETE', '/tasks/1'],
    ] as const) {
      expect((await ask(method, path, body)).status).toBe(400)
    }
    expect((await ask('DELETE', '/tasks/1')).body).toMatchObject({
      item: { id: 1, title: 'one' },
      validations: [{ message: 'keep one' }],
    })
    expect(await rows('tasks')).toEqual(before)
  })
})
