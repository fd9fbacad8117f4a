import type { Row } from '../request/query.ts'
import { isStorageError } from '../storage/adapter.ts'
import { equal, expectStorageError } from './assertion.ts'
import { equals, find, findValues, store, write, writing, type ConformanceCase } from './case.ts'
import { offices, rowOf } from './collections.ts'

const brief = { mode: 'write', brief: true } as const
const office = (officeId: string, values: Row = {}): Row => rowOf(offices, { officeId, ...values })
const first = office('A', { phone: '1', country: 'Peru', city: 'Lima', floor: 1 })
const sameGroup = office('B', { country: 'Peru', city: 'Lima' })

/** Unique groups of fields. */
export const uniqueCases: readonly ConformanceCase[] = [
  {
    name: 'an insert with the values of a unique group rejects as duplicate, and changes nothing',
    run: async ({ adapter }) => {
      await store(adapter, offices, [first])
      for (const [row, fields] of [
        [office('B', { phone: '1' }), ['phone']],
        [sameGroup, ['country', 'city']],
      ] as const) {
        const insert = (): unknown => store(adapter, offices, [row])
        const named = await expectStorageError(
          insert,
          'duplicate',
          `the insert of ${fields.join()}`,
        )
        if (named.length > 0) equal(named, fields, 'the fields of the error, if any')
      }
      equal(await find(adapter, offices), [first], 'the rows')
    },
  },
  {
    name: 'an insert with one equal value of a unique group, or in another case, is stored',
    run: async ({ adapter }) => {
      const rows = [
        first,
        office('B', { phone: '1 ', country: 'Peru', city: 'Cusco' }),
        office('C', { phone: '01', country: 'Chile', city: 'Lima' }),
        office('D', { phone: '', country: 'peru', city: 'Lima' }),
      ]
      await store(adapter, offices, rows)
      equal(await find(adapter, offices), rows, 'the rows')
    },
  },
  {
    name: 'unique groups with a null do not count',
    run: async ({ adapter }) => {
      const rows = ['A', 'B', 'C'].map((officeId) => office(officeId, { country: 'Peru' }))
      await store(adapter, offices, [...rows, office('D'), office('E')])
      equal((await find(adapter, offices)).length, 5, 'the number of rows')
    },
  },
  {
    name: 'an update to the values of a unique group rejects, and changes nothing',
    run: async ({ adapter }) => {
      const second = office('B', { phone: '2', country: 'Peru', city: 'Cusco' })
      await store(adapter, offices, [first, second])
      for (const changes of [{ phone: '1', floor: 7 }, { city: 'Lima' }]) {
        const update = (): unknown =>
          write(adapter, (on) => on.update(offices, equals({ officeId: 'B' }), changes))
        await expectStorageError(update, 'duplicate', `the update to ${JSON.stringify(changes)}`)
      }
      equal(await find(adapter, offices), [first, second], 'the rows')
    },
  },
  {
    name: 'an update keeps the values of a unique group, and may change them',
    run: async ({ adapter }) => {
      await store(adapter, offices, [first])
      const key = equals({ officeId: 'A' })
      await write(adapter, (on) => on.update(offices, key, { phone: '1', floor: 2 }))
      await write(adapter, (on) => on.update(offices, key, { phone: '2', city: 'Cusco' }))
      await store(adapter, offices, [office('B', { phone: '1', country: 'Peru', city: 'Lima' })])
      await write(adapter, (on) => on.update(offices, key, { phone: null }))
      await store(adapter, offices, [office('C', { phone: '2' })])
      equal(await findValues(adapter, offices, 'phone'), [null, '1', '2'], 'the phones')
    },
  },
  {
    name: 'the values of a unique group may be inserted again after their row was deleted',
    run: async ({ adapter }) => {
      await store(adapter, offices, [first])
      const key = equals({ officeId: 'A' })
      await write(adapter, async (on) => {
        await on.delete(offices, key)
        await on.insert(offices, office('B', { phone: '1', country: 'Peru', city: 'Lima' }))
      })
      await write(adapter, (on) => on.delete(offices, equals({ officeId: 'B' })))
      await store(adapter, offices, [first])
      equal(await find(adapter, offices), [first], 'the rows')
    },
  },
  {
    name: 'a unique group holds within one transaction, which stays usable',
    run: async ({ adapter }) => {
      await write(adapter, async (on) => {
        await on.insert(offices, first)
        const insert = (): unknown => on.insert(offices, sameGroup)
        await expectStorageError(insert, 'duplicate', 'the second insert')
        await on.update(offices, equals({ officeId: 'A' }), { city: 'Cusco' })
        await on.insert(offices, sameGroup)
        const update = (): unknown =>
          on.update(offices, equals({ officeId: 'A' }), { city: 'Lima' })
        await expectStorageError(update, 'duplicate', 'the update')
        await on.delete(offices, equals({ officeId: 'B' }))
        await on.update(offices, equals({ officeId: 'A' }), { city: 'Lima' })
      })
      equal(await find(adapter, offices), [first], 'the rows')
    },
  },
  {
    name: 'what a transaction that was undone did to a unique group is undone',
    run: async ({ adapter }) => {
      await store(adapter, offices, [first])
      const undone = adapter.transaction(writing, async (on) => {
        await on.delete(offices, equals({ officeId: 'A' }))
        await on.insert(offices, sameGroup)
        throw new Error('undone')
      })
      await undone.catch(() => undefined)
      const insert = (): unknown => store(adapter, offices, [sameGroup])
      await expectStorageError(insert, 'duplicate', 'the insert')
      equal(await find(adapter, offices), [first], 'the rows')
    },
  },
  {
    name: 'one of 20 concurrent inserts of the values of a unique group succeeds',
    run: async ({ adapter }) => {
      const attempts = Array.from({ length: 20 }, (_, index) =>
        adapter.transaction(brief, async (on) =>
          on.insert(offices, office(`office ${index}`, { country: 'Peru', city: 'Lima' })),
        ),
      )
      const results = await Promise.allSettled(attempts)
      const kinds = results.map((result) => {
        if (result.status === 'fulfilled') return 'stored'
        return isStorageError(result.reason) ? result.reason.kind : String(result.reason)
      })
      const expected = ['stored', ...Array.from({ length: 19 }, () => 'duplicate')]
      equal(kinds.toSorted().toReversed(), expected, 'the outcomes')
    },
  },
]
