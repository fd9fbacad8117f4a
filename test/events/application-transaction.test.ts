import { expect } from 'vitest'
import { principal, system } from '../../src/entries/index.ts'
import { describeOnStorages } from '../kit/stage.ts'
import { log, loose, tasks } from './tasks.ts'
import { until } from '../kit/service.ts'

const one = { id: 1, title: 'one' }
const maria = principal('maria')

describeOnStorages('a transaction of application code', (on) => {
  on('commits all events when the work resolves', async (open) => {
    const { service, rows } = open({ log: loose(log), tasks: tasks() })
    const result = await service.as(maria).transaction(async ({ collection }) => {
      await collection(log).insert({ id: 1, line: 'begun' })
      await collection('app', 'tasks').insert(one)
      await collection(log, 'app').update(1, { line: 'done' })
      expect(await collection(log).get(1)).toEqual({ id: 1, line: 'done' })
      return 'returned'
    })
    expect(result).toBe('returned')
    expect(await rows('log')).toEqual([{ id: 1, line: 'done' }])
    expect(await rows('tasks')).toHaveLength(1)
  })

  on('commits nothing when the work throws', async (open) => {
    const { service, rows } = open({ log: loose(log) })
    const work = service.as(maria).transaction(async ({ collection }) => {
      await collection(log).insert({ id: 1 })
      throw new RangeError('stop')
    })
    await expect(work).rejects.toThrow(new RangeError('stop'))
    expect(await rows('log')).toEqual([])
  })

  on('continues after a rejected save that wrote nothing', async (open) => {
    const { service, rows } = open({ log: loose(log), tasks: tasks() })
    await service.as(maria).transaction(async ({ collection }) => {
      const saved = await collection('app', 'tasks').insert({ id: 1 })
      expect(saved).toMatchObject({ rejected: true, validations: [{ field: 'title' }] })
      await collection(log).insert({ id: 1, line: 'rejected' })
    })
    expect(await rows('log')).toEqual([{ id: 1, line: 'rejected' }])
  })

  on('is rolled back when an event is rejected after it has written', async (open) => {
    const { service, rows } = open({
      log: loose(log),
      tasks: tasks({ events: { Insert: { after: ({ reject }) => reject('too late') } } }),
    })
    const work = service.as(maria).transaction(async ({ collection }) => {
      await collection(log).insert({ id: 1 })
      const saved = await collection('app', 'tasks').insert(one)
      expect(saved).toMatchObject({ rejected: true, validations: [{ message: 'too late' }] })
      return 'ignored'
    })
    await expect(work).rejects.toThrow('an event of app/tasks was rejected after it had written')
    expect(await rows('log')).toEqual([])
    expect(await rows('tasks')).toEqual([])
  })

  on('has the rights of its principal', async (open) => {
    const { service, rows } = open({ tasks: tasks({ rows: () => ({ size: 1 }) }) })
    const insert = (as: typeof maria, values: object) =>
      service
        .as(as)
        .transaction(({ collection }) => collection('app', 'tasks').insert(values as never))
    await expect(insert(maria, { ...one, size: 2 })).rejects.toThrow()
    expect(await insert(maria, { ...one, state: 'x' })).toMatchObject({
      rejected: true,
      validations: [{ field: 'state', message: 'state is read-only.' }],
    })
    expect(await insert(system, { ...one, size: 2, state: 'x' })).toMatchObject({ rejected: false })
    expect(await rows('tasks')).toHaveLength(1)
  })

  on('runs handlers after its commit, and not after a rollback', async (open) => {
    const committed: unknown[] = []
    const { service } = open({
      tasks: tasks({
        events: { Insert: { committed: ({ item }) => void committed.push(item.id) } },
      }),
    })
    const insertAndThen = (id: number, end: () => void) =>
      service.as(maria).transaction(async ({ collection }) => {
        await collection('app', 'tasks').insert({ ...one, id })
        expect(committed).toEqual([])
        end()
      })
    await insertAndThen(1, () => {
      throw new Error('undo')
    }).catch(() => undefined)
    await insertAndThen(2, () => undefined)
    await until(() => committed.length > 0)
    expect(committed).toEqual([2])
  })

  on('is rolled back after its timeout, and its later calls are rejected', async (open) => {
    const { service, rows } = open({ log: loose(log) })
    let late: Promise<unknown> = Promise.resolve()
    const work = service.as(maria).transaction(
      async ({ collection }) => {
        await collection(log).insert({ id: 1 })
        await new Promise((resolve) => setTimeout(resolve, 60))
        late = collection(log).insert({ id: 2 })
        await late
      },
      { timeout: 20 },
    )
    await expect(work).rejects.toThrow('timeout of 20 ms')
    await new Promise((resolve) => setTimeout(resolve, 80))
    await expect(late).rejects.toThrow()
    expect(await rows('log')).toEqual([])
  })

  on('is rolled back when a call is not awaited', async (open) => {
    const { service, rows } = open({ log: loose(log) })
    const work = service.as(maria).transaction(({ collection }) => {
      void collection(log).insert({ id: 1 })
    })
    await expect(work).rejects.toThrow('The call of insert was not awaited')
    expect(await rows('log')).toEqual([])
  })

  on('throws a TypeError for an unknown collection or option', async (open) => {
    const { service } = open({ log: loose(log) })
    const user = service.as(maria)
    const other = { ...log }
    const reach = (given: unknown, name?: unknown) =>
      user.transaction(({ collection }) => collection(given as string, name as string))
    await expect(reach(other)).rejects.toThrow(
      /^The service does not publish the collection that was given, which has the key .* and the fields /,
    )
    await expect(reach('app', 'nope')).rejects.toThrow(TypeError)
    await expect(reach(log, 'nope')).rejects.toThrow(TypeError)
    const options = { timeot: 1 } as object
    await expect(user.transaction(() => 1, options)).rejects.toThrow('timeout')
    await expect(user.transaction(() => 1, { timeout: 0 })).rejects.toThrow(TypeError)
  })
})
