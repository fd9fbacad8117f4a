import { describe, expect, test } from 'vitest'
import { definitionData } from '../../src/deployment/package/definition-data.ts'
import {
  defineCollection,
  error,
  integer,
  principal,
  text,
  withBehaviour,
  withCode,
  type CollectionBehaviour,
  type CollectionDefinition,
  type CollectionShape,
} from '../../src/entries/index.ts'
import { describeServices, openStage } from '../kit/stage.ts'

const customers = defineCollection({
  key: 'id',
  fields: { id: integer(), name: text(), bestOrder: integer() },
})
const orders = defineCollection({
  key: 'id',
  fields: { id: integer(), customerId: integer(), line: text() },
})

const collections = {
  customers: withBehaviour(customers, {
    validations: [
      error('name', {
        field: 'name',
        check: async ({ id, name }, { find }) => {
          const [namesake] = await find(customers, { name })
          return namesake !== undefined && namesake.id !== id ? `${namesake.id} has it.` : undefined
        },
      }),
    ],
    events: {
      Delete: {
        before: async ({ stored, collection }) => {
          await collection(orders).deleteMany({ customerId: stored.id })
        },
      },
    },
  }),
  orders: withBehaviour(orders, {
    events: {
      Insert: {
        after: async ({ item, collection }) => {
          await collection(customers).update(item.customerId ?? 0, { bestOrder: item.id })
        },
      },
    },
  }),
}

describeServices(
  'code of collections that refer to each other',
  (open) => open({ collections }),
  (on) => {
    on('looks them up by the definitions that they were made of', async ({ service, rows }) => {
      const user = service.as(principal('maria'))
      await user.transaction(async ({ collection }) => {
        await collection(customers).insert({ id: 1, name: 'one' })
        await collection(orders, 'app').insert({ id: 10, customerId: 1 })
        const again = await collection(collections.customers).insert({ id: 2, name: 'one' })
        expect(again).toMatchObject({ rejected: true, validations: [{ message: '1 has it.' }] })
      })
      expect(await rows('customers')).toEqual([{ id: 1, name: 'one', bestOrder: 10 }])
      await user.collection('app', 'customers').delete(1)
      expect(await rows('orders')).toEqual([])
    })
  },
)

describe('withBehaviour', () => {
  test('looks up a definition with code that was added twice, by each of its definitions', async () => {
    const more = withBehaviour(collections.orders, { userDefinedEvents: { none: () => 1 } })
    const { service } = openStage({ orders: more, customers: collections.customers })
    await service.as(principal('maria')).transaction(async ({ collection }) => {
      for (const definition of [orders, collections.orders, more]) {
        expect(await collection(definition).filter()).toMatchObject({ items: [] })
      }
    })
    expect(await service.as(principal('maria')).collection('app', 'orders').invoke('none')).toEqual(
      { rejected: false, result: 1, validations: [] },
    )
  })

  test('prefers the definition itself, and rejects one that two collections were made of', async () => {
    const one = withBehaviour(orders, {})
    const other = withBehaviour(orders, {})
    const lookUp = async (published: Readonly<Record<string, CollectionDefinition>>) => {
      const { service } = openStage(published)
      return service.as(principal('maria')).transaction(async ({ collection }) => {
        await collection(orders as CollectionShape, 'app').insert({ id: 1 })
        return (await collection('app', 'orders').filter()).items.length
      })
    }
    expect(await lookUp({ one, orders })).toBe(1)
    await expect(lookUp({ one, other, orders: customers })).rejects.toThrow(
      new TypeError(
        'The collections one and other of the application app were made of the same definition; name one of them.',
      ),
    )
  })

  test('adds to the code that a definition has', () => {
    const validation = (name: string) => error<object>(name, { check: () => undefined })
    const first = defineCollection(
      { key: 'id', fields: { id: integer() } },
      { validations: [validation('a')], events: { Insert: { after: () => undefined } } },
    )
    const both = withBehaviour(first, {
      validations: [validation('b')],
      events: { Insert: { before: () => undefined }, Delete: { after: () => undefined } },
    })
    expect(both.validations?.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(Object.keys(both.events?.Insert ?? {})).toEqual(['after', 'before'])
    expect(Object.keys(both.events ?? {})).toEqual(['Insert', 'Delete'])
    expect(Object.isFrozen(both)).toBe(true)
    expect(first.validations).toHaveLength(1)
  })

  test('throws a TypeError for unknown members, and for code that the definition has already', () => {
    const add = (behaviour: object) => () =>
      withBehaviour(collections.orders, behaviour as CollectionBehaviour<typeof orders>)
    expect(add({ validation: [] })).toThrow(
      'withBehaviour: validation is not an option; did you mean validations?',
    )
    expect(add({ events: { Insert: { after: () => undefined } } })).toThrow(
      new TypeError(
        'The configuration has mistakes:\n  - behaviour.events.Insert.after: the definition has this code already',
      ),
    )
  })

  test('packages omit the code, and withCode supplies it', async () => {
    const data = definitionData({ app: { collections } })
    expect(data).toMatchObject({
      app: {
        collections: {
          customers: { omittedCode: ['events.Delete.before', 'validations.name'] },
          orders: { omittedCode: ['events.Insert.after'] },
        },
      },
    })
    const codeOf = ({ validations = [], events = {} }: CollectionDefinition) => ({
      validations,
      events,
    })
    const supplied = withCode(data as never, {
      app: {
        customers: { definition: collections.customers, ...codeOf(collections.customers) },
        orders: { definition: orders, ...codeOf(collections.orders) },
      },
    })
    const { service } = openStage(supplied['app']?.collections ?? {})
    const user = service.as(principal('maria'))
    await user.collection('app', 'customers').insert({ id: 1, name: 'one' })
    await user.collection('app', 'orders').insert({ id: 10, customerId: 1 })
    await user.transaction(async ({ collection }) => {
      expect(await collection(customers).get(1)).toEqual({ id: 1, name: 'one', bestOrder: 10 })
    })
    const again = await user.collection('app', 'customers').insert({ id: 2, name: 'one' })
    expect(again.validations).toMatchObject([{ message: '1 has it.' }])
  })
})
