import { expect } from 'vitest'
import {
  bigint,
  boolean,
  date,
  decimal,
  defineCollection,
  double,
  instant,
  integer,
  text,
  uuid,
  type RowRule,
} from '../../src/entries/index.ts'
import { describeForCallers } from '../kit/stage.ts'
import type { Response as Answer } from '../kit/service.ts'
import { expectForbidden, itemIn, valuesIn } from './responses.ts'
import { visitor } from '../kit/visitors.ts'

const fields = { id: integer(), region: text(), owner: text(), size: integer() } as const

interface Shape {
  readonly fields: typeof fields
  readonly key: 'id'
}

const plain = defineCollection({ key: 'id', fields })
const items = [
  { id: 1, region: 'north', owner: 'nora', size: 1 },
  { id: 2, region: 'south', owner: 'sam', size: 1 },
  { id: 3, region: 'north', owner: 'sam', size: 2 },
  { id: 4, region: null, owner: null, size: null },
  { id: 5, region: '', owner: '', size: 0 },
  { id: 6, region: 'North', owner: 'NORA', size: 1 },
]

const nora = visitor('nora', { region: 'north' })
const sam = visitor('sam', { region: 'south' })
const chief = visitor('chris', { roles: 'Chief' })

const ruled = (rows: RowRule<Shape>) => ({ ...plain, rows }) as unknown as typeof plain

const internal =
  '{"message":"The request could not be served because of an internal error.","validations":[],"status":500}'

describeForCallers('row rules as data', (on) => {
  on('an attribute, the user, a literal and several of them', async (open) => {
    const rules: readonly (readonly [RowRule<Shape>, readonly number[], readonly number[]])[] = [
      [{ equal: { region: { attribute: 'region' } } }, [1, 3], [2]],
      [{ equal: { owner: { principal: 'user' } } }, [1], [2, 3]],
      [{ equal: { region: 'north' } }, [1, 3], [1, 3]],
      [{ equal: { size: 1 } }, [1, 2, 6], [1, 2, 6]],
      [{ equal: { size: 0 } }, [5], [5]],
      [{ equal: { region: null } }, [4], [4]],
      [{ equal: { region: '' } }, [5], [5]],
      [{ equal: { region: 'north', owner: { principal: 'user' } } }, [1], [3]],
      [{ equal: { region: { attribute: 'region' }, size: 9 } }, [], []],
    ]
    for (const [rows, forNora, forSam] of rules) {
      const stage = open({ collections: { items: ruled(rows) } })
      await stage.plant('items', items)
      const told = JSON.stringify(rows)
      expect(valuesIn(await stage.ask(nora, 'GET', '/items')), told).toEqual(forNora)
      expect(valuesIn(await stage.ask(sam, 'GET', '/items')), told).toEqual(forSam)
    }
  })

  on('callers in an excepted role read and write all rows', async (open) => {
    const rows = { equal: { region: { attribute: 'region' } }, exceptRoles: ['Chief', 'Boss'] }
    const stage = open({ collections: { items: ruled(rows) } })
    await stage.plant('items', items)
    expect(valuesIn(await stage.ask(chief, 'GET', '/items'))).toEqual([1, 2, 3, 4, 5, 6])
    itemIn(await stage.ask(chief, 'POST', '/items/1', { region: 'west' }))
    itemIn(await stage.ask(chief, 'POST', '/items', { id: 9 }))
    itemIn(await stage.ask(chief, 'DELETE', '/items/2'))
    expect((await stage.rows('items')).map(({ region }) => region)).toEqual([
      'west',
      'north',
      null,
      '',
      'North',
      null,
    ])
  })

  on('a caller without the attribute is rejected everywhere', async (open) => {
    const stage = open({
      collections: { items: ruled({ equal: { region: { attribute: 'region' } } }) },
    })
    await stage.plant('items', items)
    const who = visitor('nora', { roles: 'Chief' })
    for (const path of [
      '/items',
      '/items?region=north',
      '/items?nope=1',
      '/items/1',
      '/items/99',
    ]) {
      expectForbidden(await stage.ask(who, 'GET', path))
    }
    expectForbidden(await stage.ask(who, 'POST', '/items', { id: 9, region: 'north' }))
    expectForbidden(await stage.ask(who, 'POST', '/items', '{'))
    expectForbidden(await stage.ask(who, 'POST', '/items/4', { size: 1 }))
    expectForbidden(await stage.ask(who, 'DELETE', '/items/1'))
    expectForbidden(await stage.ask({ ...who, accept: 'text/html' }, 'GET', '/items'))
  })

  on('an attribute that objects have anyway is none', async (open) => {
    for (const attribute of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      const stage = open({ collections: { items: ruled({ equal: { region: { attribute } } }) } })
      expectForbidden(await stage.ask(nora, 'GET', '/items'))
    }
  })

  on('an attribute of a wrong type shows nothing', async (open) => {
    const stage = open({
      collections: { items: ruled({ equal: { size: { attribute: 'region' } } }) },
    })
    await stage.plant('items', items)
    const answer = await stage.ask(nora, 'GET', '/items')
    expect(answer.text).toBe(internal)
    expect(stage.reports()).toMatchObject([{ type: 'request-failed' }])
  })

  on('values of every type are compared in their stored form', async (open) => {
    const typed = {
      id: integer(),
      amount: decimal({ precision: 6, scale: 2 }),
      serial: bigint(),
      ratio: double(),
      active: boolean(),
      day: date(),
      at: instant(),
      token: uuid(),
    } as const
    const values = {
      amount: '1.5',
      serial: '9007199254740993',
      ratio: 0.1,
      active: false,
      day: '2024-02-29',
      at: '2024-02-29T10:00:00.000Z',
      token: 'AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE',
    } as const
    for (const [name, value] of Object.entries(values)) {
      const definition = defineCollection({ key: 'id', fields: typed })
      const rows = { equal: { [name]: value } }
      const stage = open({ collections: { items: { ...definition, rows } } })
      await stage.plant('items', [{ id: 1, ...values }, { id: 2 }])
      expect(valuesIn(await stage.ask(nora, 'GET', '/items')), name).toEqual([1])
      itemIn(await stage.ask(nora, 'POST', '/items', { id: 3 }))
      itemIn(await stage.ask(nora, 'POST', '/items', { id: 4, [name]: value }))
      itemIn(await stage.ask(nora, 'POST', '/items/4', { [name]: value }))
      expect(valuesIn(await stage.ask(nora, 'GET', '/items')), name).toEqual([1, 3, 4])
      expectForbidden(await stage.ask(nora, 'POST', '/items/4', { [name]: null }))
    }
  })
})

describeForCallers('row rules as functions', (on) => {
  on('true, false and conditions', async (open) => {
    const rows: RowRule<Shape> = ({ user, roles, attributes }) => {
      if (roles.includes('Chief')) return true
      if (roles.includes('Guest')) return false
      return { region: attributes['region'] as string, owner: user }
    }
    const stage = open({ collections: { items: ruled(rows) } })
    await stage.plant('items', items)
    expect(valuesIn(await stage.ask(chief, 'GET', '/items'))).toEqual([1, 2, 3, 4, 5, 6])
    expect(valuesIn(await stage.ask(nora, 'GET', '/items'))).toEqual([1])
    expect(valuesIn(await stage.ask(sam, 'GET', '/items'))).toEqual([2])
    const guest = visitor('nora', { region: 'north', roles: 'Guest' })
    for (const [method, path] of [
      ['GET', '/items'],
      ['GET', '/items/1'],
      ['GET', '/items/99'],
      ['POST', '/items'],
      ['POST', '/items/1'],
      ['DELETE', '/items/1'],
    ] as const) {
      expectForbidden(await stage.ask(guest, method, path, { id: 9 }))
    }
    itemIn(await stage.ask(nora, 'POST', '/items', { id: 9 }))
    expect((await stage.rows('items')).at(-1)).toMatchObject({ region: 'north', owner: 'nora' })
  })

  on('null is a value, and a value that is missing rejects', async (open) => {
    const rows: RowRule<Shape> = ({ attributes }) =>
      ({
        region: 'region' in attributes ? attributes['region'] : undefined,
        owner: null,
      }) as { region: string; owner: null }
    const stage = open({ collections: { items: ruled(rows) } })
    await stage.plant('items', [...items, { id: 7, region: 'north', owner: null, size: 1 }])
    expect(valuesIn(await stage.ask(nora, 'GET', '/items'))).toEqual([7])
    expectForbidden(await stage.ask(visitor('nora'), 'GET', '/items'))
    expectForbidden(await stage.ask(visitor('nora'), 'POST', '/items', { id: 9 }))
  })

  on('is called once for each request, with the caller', async (open) => {
    const asked: unknown[] = []
    const rows: RowRule<Shape> = (caller) => {
      asked.push([caller.user, caller.attributes['region']])
      return { region: 'north' }
    }
    const stage = open({ collections: { items: ruled(rows) } })
    await stage.plant('items', items)
    expect(asked).toEqual([])
    const answers: Answer[] = [
      await stage.ask(nora, 'GET', '/items?$count=true'),
      await stage.ask(nora, 'GET', '/items/1'),
      await stage.ask(nora, 'POST', '/items/1', { size: 5 }),
      await stage.ask(nora, 'POST', '/items', { id: 9 }),
      await stage.ask(nora, 'DELETE', '/items/9'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(asked).toEqual(answers.map(() => ['nora', 'north']))
  })

  on('a result other than conditions, true or false is a 500', async (open) => {
    const wrong: readonly (() => unknown)[] = [
      () => undefined,
      () => null,
      () => 'north',
      () => 1,
      () => Symbol('north'),
      async () => true,
      async () => ({ region: 'north' }),
      () => ['region'],
      () => [],
      () => ({}),
      () => new Map([['region', 'north']]),
      () => new Date(),
      () => ({ nope: 'north' }),
      () => ({ constructor: 'north' }),
      () => ({ region: 5 }),
      () => ({ region: Number.NaN }),
      () => ({ region: { attribute: 'region' } }),
      () => ({ size: '1' }),
      () => ({ size: 1.5 }),
      () => {
        throw new Error('of the rule')
      },
    ]
    for (const rule of wrong) {
      const stage = open({ collections: { items: ruled(rule as RowRule<Shape>) } })
      await stage.plant('items', items)
      for (const [method, path] of [
        ['GET', '/items'],
        ['GET', '/items/1'],
        ['POST', '/items'],
        ['POST', '/items/1'],
        ['DELETE', '/items/1'],
      ] as const) {
        const answer = await stage.ask(nora, method, path, { id: 9 })
        expect(answer.text, `${String(rule)} ${method} ${path}`).toBe(internal)
        expect(stage.reports()).toMatchObject([{ type: 'request-failed' }])
      }
    }
  })

  on(
    'a rule that returns a promise is a 500, and its later rejection has no effect',
    async (open) => {
      const rule = async () => {
        throw new Error('of the rule')
      }
      const stage = open({ collections: { items: ruled(rule as unknown as RowRule<Shape>) } })
      const answer = await stage.ask(nora, 'GET', '/items')
      expect(answer.text).toBe(internal)
      await new Promise((resolve) => setTimeout(resolve, 5))
      expect(stage.reports()).toMatchObject([{ type: 'request-failed' }])
    },
  )
})
