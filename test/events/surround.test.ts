import { describe, expect, test } from 'vitest'
import { runEvent } from '../../src/events/run.ts'
import { Unit, type Surround } from '../../src/events/units/unit.ts'
import { publishCollection, StorageError } from '../../src/entries/storage.ts'
import {
  defineCollection,
  integer,
  principal,
  text,
  type CollectionBehaviour,
} from '../../src/entries/index.ts'
import { planInsert } from '../../src/request/plan.ts'
import { viewOf } from '../../src/request/view.ts'
import { callerOf, stubbedStorage } from './stubbed.ts'

const data = { key: 'id', fields: { id: integer(), title: text() } } as const

function prepared(behaviour: CollectionBehaviour<typeof data> = {}) {
  const collection = publishCollection('app', 'notes', defineCollection(data, behaviour))
  const event = planInsert(viewOf(collection, principal('maria')), { id: 1 })
  return { ...stubbedStorage(collection), event }
}

describe('what surrounds an event', () => {
  test('runs before it and with its outcome, in its transaction, which is not of one write', async () => {
    const { runtime, event, calls, transactions } = prepared()
    const seen: unknown[] = []
    const surround: Surround = async (transaction, work) => {
      await transaction.delete(event.collection, [])
      const result = await work()
      seen.push(result)
      await transaction.update(event.collection, [], {})
      return result
    }
    const outcome = await runEvent(Unit.outside(runtime, surround), event, callerOf())
    expect(seen).toEqual([outcome])
    expect(calls.map(([name]) => name)).toEqual(['delete', 'insert', 'update'])
    expect(transactions).toEqual([{ mode: 'write', brief: true }])
  })

  test('does not surround the events that its code invokes', async () => {
    let times = 0
    const surround: Surround = (_, work) => {
      times++
      return work()
    }
    const { runtime, event, transactions } = prepared({
      events: {
        Filter: { before: () => undefined },
        Insert: {
          prepare: async ({ find }) => {
            await find('notes')
          },
          before: async ({ collection }) => {
            await collection('notes').filter()
          },
        },
      },
    })
    await runEvent(Unit.outside(runtime, surround), event, callerOf())
    expect(transactions).toHaveLength(2)
    expect(times).toBe(1)
  })

  test('rolls the event back if it fails, which is not a rejected save', async () => {
    const { runtime, event } = prepared()
    const error = new StorageError('duplicate')
    const surround: Surround = async (_, work) => {
      await work()
      throw error
    }
    const run = async () => runEvent(Unit.outside(runtime, surround), event, callerOf())
    await expect(run()).rejects.toBe(error)
  })

  test('is not called with the outcome of an event that is rolled back', async () => {
    const { runtime, event } = prepared({
      events: { Insert: { after: ({ reject }) => reject('Too late.') } },
    })
    const seen: unknown[] = []
    const surround: Surround = async (_, work) => {
      const result = await work()
      seen.push(result)
      return result
    }
    const outcome = await runEvent(Unit.outside(runtime, surround), event, callerOf())
    expect(outcome.type).toBe('rejected')
    expect(seen).toEqual([])
  })
})
