import { expect } from 'vitest'
import { defineCollection, system } from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { gate } from '../kit/gate.ts'
import { describeOnStorages } from '../kit/stage.ts'
import { log, loose, tasks } from './tasks.ts'

const pause = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds))
const never = () => new Promise<void>(() => undefined)

describeOnStorages('application code that waits', (on) => {
  on('and never settles in `before` does not delay writes of other collections', async (open) => {
    const { ask, reports } = open(
      { log: loose(log), tasks: tasks({ events: { Insert: { before: never } } }) },
      { handlerTimeout: 1000 },
    )
    let ended = 0
    const stuck = Array.from({ length: 10 }, async (_, id) => {
      const { status } = await ask('POST', '/tasks', { id, title: 'one' })
      ended++
      return status
    })
    expect((await ask('POST', '/log', { id: 1 })).status).toBe(200)
    expect(ended).toBe(0)
    expect(new Set(await Promise.all(stuck))).toEqual(new Set([500]))
    expect(reports()).toHaveLength(10)
  })

  on('makes another save of its item wait until it has ended', async (open) => {
    const { waiting, begun, release } = waitingTasks()
    const { ask, rows } = open({ tasks: waiting })
    await ask('POST', '/tasks', { id: 1, title: 'one', size: 0 })
    const slow = ask('POST', '/tasks/1', { size: 1 })
    await begun
    setTimeout(release, 100)
    expect((await ask('POST', '/tasks/1', { title: 'two' })).status).toBe(200)
    expect((await slow).status).toBe(200)
    expect(await rows('tasks')).toMatchObject([{ title: 'two', size: 1 }])
  })

  on('responds 503 when a handler of another item changed the item that it saw', async (open) => {
    const { waiting, begun, release } = waitingTasks()
    const { ask, rows, reports } = open({
      log: defineCollection(log, {
        events: {
          Insert: {
            after: async ({ collection }) => {
              await collection('tasks').update(1, { title: 'two' })
            },
          },
        },
      }),
      tasks: waiting,
    })
    await ask('POST', '/tasks', { id: 1, title: 'one', size: 0 })
    const slow = ask('POST', '/tasks/1', { size: 1 })
    await begun
    expect((await ask('POST', '/log', { id: 1 })).status).toBe(200)
    release()
    expect((await slow).status).toBe(503)
    expect(await rows('tasks')).toMatchObject([{ title: 'two', size: 0 }])
    expect(reports()).toMatchObject([{ type: 'storage-unavailable' }])
    expect((await ask('POST', '/tasks/1', { size: 1 })).status).toBe(200)
    expect(await rows('tasks')).toMatchObject([{ title: 'two', size: 1 }])
  })

  on('in `after` does not stop the revocation of a key', async (open) => {
    const { service, reports } = open(
      { tasks: tasks({ events: { Insert: { after: async () => pause(700) } } }) },
      { security: apiKeys({ name: 'Key' }) },
    )
    await service.users.add({ user: 'maria' })
    let ended = 0
    const key = await service.keys.create({ user: 'maria' })
    const slow = Array.from({ length: 4 }, (_, id) =>
      service
        .as(system)
        .collection('app', 'tasks')
        .insert({ id, title: 'one' })
        .then(() => ended++),
    )
    const settled = Promise.allSettled(slow)
    await pause(60)
    ended = 0
    expect(await service.keys.revoke(key.keyId)).toMatchObject({ keyId: key.keyId })
    // The one that was writing, and no one that waited.
    expect(ended).toBeLessThanOrEqual(1)
    await settled
    reports()
  })
})

/** Tasks whose update to the size 1 waits in `before` until it is released. */
function waitingTasks() {
  const [begin, end] = [gate(), gate()]
  const waiting = tasks({
    events: {
      Update: {
        before: async ({ item }) => {
          if (item.size !== 1) return
          begin.open()
          await end.opened
        },
      },
    },
  })
  return { waiting, begun: begin.opened, release: end.open }
}
