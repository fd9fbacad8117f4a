import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
} from '../../src/entries/index.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { describeOnStorages } from '../kit/stage.ts'
import { loose, tasks } from '../events/tasks.ts'
import { listen, type Heard } from '../kit/listen.ts'

/** The order of the phases of each trace, by the stage. */
function phasesOf(heard: readonly Heard[]): readonly string[] {
  const traces = [...new Set(heard.map(({ trace }) => trace))]
  return traces.map((one) => {
    const own = heard.filter(({ trace }) => trace === one)
    return `${own[0]?.stage}: ${own.map(({ phase }) => phase).join(' ')}`
  })
}

const settled = 'start end asyncStart asyncEnd'

describeOnStorages('the channels', (on) => {
  on('publish the start and the end of each stage, with one object', async (open) => {
    const { ask } = open({ tasks: loose(tasks()) })
    await ask('GET', '/tasks')
    const { heard } = listen()
    expect((await ask('GET', '/tasks')).status).toBe(200)
    expect(phasesOf(heard)).toEqual([
      `request: ${settled}`,
      `security: ${settled}`,
      `event: ${settled}`,
      `storage: ${settled}`,
    ])
    expect(heard.at(-1)).toMatchObject({ stage: 'request', phase: 'asyncEnd' })
  })

  on('nest a write: its event, its transaction, and the calls in it', async (open) => {
    const { ask } = open({ tasks: loose(tasks()) })
    const { heard, lines, ended } = listen('event', 'storage')
    expect((await ask('POST', '/tasks', { id: 1, title: 'one' })).status).toBe(200)
    expect(new Set(phasesOf(heard).map((line) => line.split(': ')[1]))).toEqual(new Set([settled]))
    const inOrder = lines().filter((line) => / (start|asyncEnd)$/.test(line))
    expect(inOrder[0]).toBe('event start')
    expect(inOrder.at(-1)).toBe('event asyncEnd')
    expect(ended('storage').at(-1)).toMatchObject({ operation: 'transaction', undone: false })
    expect(ended('storage')).toContainEqual({
      storage: expect.any(String) as string,
      operation: 'insert',
      application: 'app',
      collection: 'tasks',
      rows: 1,
      undone: false,
    })
  })

  on('complete a trace while the stage runs', async (open) => {
    const { ask } = open({ tasks: loose(tasks()) })
    await ask('POST', '/tasks', { id: 1, title: 'one' })
    const { heard } = listen()
    await ask('GET', '/tasks?title=one')
    const looks = (stage: Heard['stage'], phase: Heard['phase']) =>
      heard.find((one) => one.stage === stage && one.phase === phase)?.looks
    const asked = {
      time: expect.any(String) as string,
      method: 'GET',
      path: '/rest/v1/app/tasks',
      query: 'title=one',
      secure: false,
      peer: null,
      traceparent: null,
      provider: null,
      user: null,
      keyId: null,
      code: null,
      cached: false,
    }
    const unknown = { application: null, collection: null, event: null, status: null }
    expect(looks('request', 'start')).toEqual({ ...asked, ...unknown, milliseconds: null })
    expect(looks('request', 'asyncEnd')).toEqual({
      ...asked,
      application: 'app',
      collection: 'tasks',
      event: 'Filter',
      status: 200,
      milliseconds: expect.any(Number) as number,
    })
    const event = { application: 'app', collection: 'tasks', event: 'Filter', user: null }
    expect(looks('event', 'start')).toEqual({
      ...event,
      nested: false,
      cached: false,
      outcome: null,
    })
    expect(looks('event', 'asyncEnd')).toEqual({
      ...event,
      nested: false,
      cached: false,
      outcome: 'page',
    })
    expect(looks('storage', 'start')).toMatchObject({ operation: 'filter', rows: null })
    expect(looks('storage', 'asyncEnd')).toMatchObject({ rows: 1 })
    expect(looks('security', 'asyncEnd')).toEqual({
      secure: false,
      peer: null,
      provider: null,
      user: null,
      keyId: null,
    })
  })

  on('publish a rejected save as an outcome, not as an error', async (open) => {
    const { ask } = open({
      tasks: loose(tasks({ events: { Insert: { after: ({ reject }) => reject('no') } } })),
    })
    const { lines, ended } = listen()
    expect((await ask('POST', '/tasks', { id: 1, title: 'one' })).status).toBe(400)
    expect(lines().filter((line) => line.endsWith('error'))).toEqual([])
    expect(ended('event')).toMatchObject([{ outcome: 'rejected' }])
    expect(ended('storage').at(-1)).toMatchObject({ operation: 'transaction', undone: true })
    expect(ended('request')).toMatchObject([{ status: 400, code: null }])
  })

  on('publish the code of an error response', async (open) => {
    const { ask } = open({ tasks: loose(tasks()) })
    const { heard, ended } = listen()
    const statuses = []
    for (const [method, path] of [
      ['GET', '/tasks?nope=1'],
      ['GET', '/nothing'],
      ['PUT', '/tasks'],
      ['GET', '/tasks/7'],
    ] as const)
      statuses.push((await ask(method, path)).status)
    expect(statuses).toEqual([400, 404, 405, 404])
    expect(ended('request').map(({ code, collection }) => [code, collection])).toEqual([
      ['MALFORMED_QUERY', 'tasks'],
      ['NOT_FOUND', null],
      ['METHOD_NOT_ALLOWED', null],
      ['NOT_FOUND', 'tasks'],
    ])
    expect(phasesOf(heard).filter((line) => line.startsWith('event'))).toEqual([
      'event: start end error asyncStart asyncEnd',
    ])
    expect(ended('event')).toMatchObject([{ outcome: null, error: { code: 'NOT_FOUND' } }])
  })

  on('publish the error of a handler once, and before the end', async (open) => {
    const fault = new Error('The handler is broken.')
    const { ask, reports } = open({
      tasks: loose(
        tasks({
          events: {
            Insert: {
              after: () => {
                throw fault
              },
            },
          },
        }),
      ),
    })
    const { heard, ended } = listen('event', 'request')
    expect((await ask('POST', '/tasks', { id: 1, title: 'one' })).status).toBe(500)
    expect(phasesOf(heard)).toEqual([
      `request: ${settled}`,
      'event: start end error asyncStart asyncEnd',
    ])
    expect(ended('event')).toMatchObject([{ outcome: null, error: { cause: fault } }])
    expect(ended('request')).toMatchObject([{ status: 500, code: 'INTERNAL' }])
    expect(reports()).toHaveLength(1)
  })

  on('publish nothing after the last subscriber has unsubscribed', async (open) => {
    const { ask } = open({ tasks: loose(tasks()) })
    const { heard, stop } = listen()
    await ask('GET', '/tasks')
    const count = heard.length
    stop()
    await ask('GET', '/tasks')
    expect([count > 0, heard.length]).toEqual([true, count])
  })
})

/** A memory storage whose reads throw, at once or later. */
function failing(how: 'throws' | 'rejects', error: Error): StorageAdapter {
  const memory = memoryStorage()
  const { filterText: _text, ...rest } = memory
  return {
    ...rest,
    filter: () => {
      if (how === 'throws') throw error
      return Promise.reject(error)
    },
  }
}

test.each([
  ['throws', 'storage: start end error asyncStart asyncEnd'],
  ['rejects', 'storage: start end error asyncStart asyncEnd'],
] as const)('a storage that %s is traced with its error', async (how, phases) => {
  const error = new Error('down')
  const notes = defineCollection({ key: 'id', fields: { id: integer() } })
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: failing(how, error),
    security: openAccess(),
  })
  const { heard, ended } = listen('storage')
  expect((await createTestClient(service).get('/desk/notes')).status).toBe(500)
  expect(phasesOf(heard)).toEqual([phases])
  expect(ended('storage')).toMatchObject([{ error, rows: null }])
  await service.close()
})
