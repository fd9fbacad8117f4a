import { expect } from 'vitest'
import {
  defineCollection,
  integer,
  principal,
  system,
  text,
  warning,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { describeOnStorages } from '../kit/stage.ts'
import { idsIn, log, loose, maria, tasks, tasksOf, threeTasks } from './tasks.ts'

const items = threeTasks

describeOnStorages('several saves in one transaction', (on) => {
  on('inserts all items, in their order', async (open) => {
    const stage = open({ tasks: tasks() })
    const saved = await tasksOf(stage).insertMany(items)
    expect(saved).toEqual({
      rejected: false,
      items: items.map((item) => ({ ...item, state: 'new' })),
      validations: [],
    })
    expect(await idsIn(stage)).toEqual([1, 2, 3])
    const none = { rejected: false, items: [], validations: [] }
    expect(await tasksOf(stage).insertMany([])).toEqual(none)
  })

  on('inserts none if some are rejected, and lists the findings of each', async (open) => {
    const stage = open({ tasks: tasks() })
    const wrong = [
      ...items,
      { id: 2, title: 'again' },
      { id: 4, title: 'x'.repeat(21), state: 'x' },
    ]
    expect(await tasksOf(stage).insertMany(wrong)).toEqual({
      rejected: true,
      message: 'The changes could not be saved.',
      validations: [
        {
          index: 3,
          key: null,
          severity: 'error',
          field: 'id',
          message: 'Another item of tasks has this id.',
        },
        {
          index: 4,
          key: null,
          severity: 'error',
          field: 'title',
          message: 'title must have at most 20 characters.',
        },
        { index: 4, key: null, severity: 'error', field: 'state', message: 'state is read-only.' },
      ],
    })
    expect(await idsIn(stage)).toEqual([])
  })

  on('confirms warnings by their ids, or all of them', async (open) => {
    const small = warning<{ size: number | null }>('large', {
      check: ({ size }) => (size === 2 ? 'is large' : undefined),
    })
    const stage = open({ tasks: tasks({ validations: [small] }) })
    const held = await tasksOf(stage).insertMany(items)
    expect(held).toMatchObject({
      rejected: true,
      message: 'The changes need confirmation.',
      validations: [{ index: 2, message: 'is large' }],
    })
    const ids = held.validations.map(({ validationId }) => validationId ?? '')
    expect(await tasksOf(stage).insertMany(items, { ignoreWarnings: ids })).toMatchObject({
      rejected: false,
    })
    expect(
      await tasksOf(stage).updateMany({ size: 2 }, { title: 'x' }, { ignoreWarnings: 'all' }),
    ).toMatchObject({ rejected: false, items: [{ id: 3, title: 'x' }] })
  })

  on('updates and deletes the items that meet the conditions', async (open) => {
    const stage = open({ tasks: tasks() })
    const access = tasksOf(stage)
    await access.insertMany(items)
    expect(await access.updateMany({ size: 1 }, { size: 5 })).toMatchObject({
      rejected: false,
      items: [
        { id: 1, size: 5 },
        { id: 2, size: 5 },
      ],
    })
    expect(await access.updateMany({ size: 9 }, { size: 5 })).toMatchObject({ items: [] })
    const many = { size: { gte: 2 }, or: [{ id: 3 }, { title: 'none' }] } as const
    expect(await access.updateMany(many, { title: '3' })).toMatchObject({ items: [{ id: 3 }] })
    expect(await access.deleteMany({ size: 5 })).toMatchObject({ items: [{ id: 1 }, { id: 2 }] })
    expect(await idsIn(stage)).toEqual([3])
    expect(await access.deleteMany({})).toMatchObject({ items: [{ id: 3, title: '3' }] })
    expect(await idsIn(stage)).toEqual([])
  })

  on('updates and deletes none if one is rejected', async (open) => {
    const stage = open({
      tasks: tasks({
        events: {
          Update: {
            before: ({ stored, error }) => {
              if (stored.id === 2) error('not this one', 'id')
            },
          },
          Delete: {
            before: ({ stored, reject }) => {
              if (stored.id > 1) reject('stays')
            },
          },
        },
      }),
    })
    const access = tasksOf(stage)
    await access.insertMany(items)
    expect(await access.updateMany({}, { size: 5 })).toEqual({
      rejected: true,
      message: 'The changes could not be saved.',
      validations: [{ index: 1, key: 2, severity: 'error', field: 'id', message: 'not this one' }],
    })
    expect(await access.deleteMany({})).toMatchObject({
      rejected: true,
      message: 'The item could not be deleted.',
      validations: [
        { index: 1, key: 2 },
        { index: 2, key: 3 },
      ],
    })
    expect((await stage.rows('tasks')).map(({ size }) => size)).toEqual([1, 1, 2])
  })

  on('takes part in a transaction of application code', async (open) => {
    const stage = open({ tasks: tasks(), log: loose(log) })
    const { service } = stage
    const definition = log as CollectionDefinition
    const work = (then: () => void) =>
      service.as(maria).transaction(async ({ collection }) => {
        await collection(definition).insertMany([{ id: 1 }, { id: 2 }])
        expect(await collection(definition).updateMany({}, { line: 'x' })).toMatchObject({
          items: [{ line: 'x' }, { line: 'x' }],
        })
        then()
      })
    await expect(
      work(() => {
        throw new Error('undo')
      }),
    ).rejects.toThrow('undo')
    expect(await stage.rows('log')).toEqual([])
    await work(() => undefined)
    expect(await stage.rows('log')).toHaveLength(2)
  })

  on('rolls a transaction of application code back only if it had written', async (open) => {
    const stage = open({ tasks: tasks(), log: loose(log) })
    const insertBoth = (values: readonly object[]) =>
      stage.service.as(maria).transaction(async ({ collection }) => {
        await collection('app', 'log').insert({ id: 1 })
        const saved = await collection('app', 'tasks').insertMany(values as never)
        expect(saved).toMatchObject({ rejected: true, validations: [{ field: 'title' }] })
      })
    await expect(insertBoth([items[0] as object, { id: 2 }])).rejects.toThrow(
      'The transaction was rolled back, because an event of app/tasks was rejected after it had written',
    )
    expect(await stage.rows('log')).toEqual([])
    await insertBoth([{ id: 2 }])
    expect(await stage.rows('log')).toHaveLength(1)
  })

  on('has the rights of its principal', async (open) => {
    const stage = open({
      tasks: loose({
        ...(tasks({ rows: ({ user }) => (user === 'maria' ? { size: 1 } : true) }) as object),
        eventRoles: { Delete: ['Boss'], Filter: ['Reader'] },
      } as never),
    })
    await tasksOf(stage, system).insertMany(items)
    const access = tasksOf(stage, principal('maria', { roles: ['Reader'] }))
    expect(await access.updateMany({}, { title: 'x' })).toMatchObject({ items: { length: 2 } })
    await expect(access.deleteMany({})).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(tasksOf(stage).updateMany({}, {})).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(access.insertMany([{ ...(items[2] as object), id: 9 } as never])).rejects.toThrow()
    expect(await idsIn(stage)).toEqual([1, 2, 3])
    stage.reports()
  })

  on('throws a TypeError for anything but lists, conditions and known options', async (open) => {
    const keyless = defineCollection({ fields: { id: integer(), line: text() } })
    const stage = open({ tasks: tasks(), keyless: loose(keyless) })
    const access = tasksOf(stage)
    const wrong: readonly (() => Promise<unknown>)[] = [
      () => access.insertMany({} as never),
      () => access.insertMany([1] as never),
      () => access.insertMany([{ ...items[0], nope: 1 }] as never),
      () => access.insertMany([], { ignore: [] } as never),
      () => access.updateMany(undefined as never, {}),
      () => access.updateMany({ nope: 1 } as never, {}),
      () => access.updateMany({ size: undefined } as never, {}),
      () => access.updateMany({}, { nope: 1 } as never),
      () => access.deleteMany(undefined as never),
      () => stage.service.as(maria).collection('app', 'keyless').deleteMany({}),
    ]
    for (const call of wrong) await expect(call()).rejects.toThrow(TypeError)
  })
})
