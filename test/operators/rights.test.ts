import { describe, expect, test } from 'vitest'
import {
  defineCollection,
  integer,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { send, type Response } from '../kit/service.ts'
import { describeForCallers, openStage } from '../kit/stage.ts'
import { visitor } from '../kit/visitors.ts'
import { bytesOf, valuesIn } from '../rights/responses.ts'

const fields = {
  id: integer(),
  secret: text({ readableBy: ['Auditor'] }),
  score: integer({ readableBy: ['Auditor'] }),
  name: text(),
  region: text(),
}
const rows = { equal: { region: { attribute: 'region' } }, exceptRoles: ['Auditor'] } as const
const vault = defineCollection({ key: 'id', fields, rows, operators: true, cursor: true })
const clerk = visitor('carl', { region: 'x' })
const auditor = visitor('ada', { roles: 'Auditor' })
const secrets = [
  { id: 1, secret: 'zebra', score: 5, name: 'Ann', region: 'x' },
  { id: 2, secret: 'apple', score: null, name: 'Bob', region: 'x' },
  { id: 3, secret: 'melon', score: 9, name: 'Cyd', region: 'y' },
]

const operators = ['ne', 'in', 'notIn', 'isNull', 'lt', 'lte', 'gt', 'gte']
const values = ['z', 'abc', '5', '', 'true', '%00', '%25', 'x'.repeat(250)]

/** Queries on a field: valid ones, and those with each kind of mistake in the value. */
function queriesOn(name: string): readonly string[] {
  return [...operators, 'contains', 'startsWith', 'nosuch', 'eq'].flatMap((operator) => [
    ...values.map((value) => `${name}.${operator}=${value}`),
    `${name}.${operator}=a&${name}.${operator}=b`,
    Array.from({ length: 101 }, (_, index) => `${name}.${operator}=${index}`).join('&'),
  ])
}

describe('a hidden field', () => {
  test('responds to every operator as a name that does not exist, without a read', async () => {
    const { service, storageCalls } = openStage({ vault })
    await service.ready()
    const readsAtStart = storageCalls.length
    const get = (query: string): Promise<Response> =>
      send(service, { method: 'GET', path: `/vault?${query}`, headers: clerk })
    for (const name of ['secret', 'score']) {
      const unknown = queriesOn('x'.repeat(name.length))
      for (const [index, query] of queriesOn(name).entries()) {
        const hidden = await get(query)
        const other = await get(unknown[index] as string)
        const expected = bytesOf(other).replaceAll('x'.repeat(name.length), name)
        expect([query, bytesOf(hidden)]).toEqual([query, expected])
        expect(hidden.status).toBe(400)
      }
    }
    expect(storageCalls).toHaveLength(readsAtStart)
  })

  test('is unknown also if a caller who can read it has just sent the same request', async () => {
    const { service } = openStage({ vault })
    const path = '/vault?secret.startsWith=z'
    for (const [who, status] of [
      [auditor, 200],
      [auditor, 200],
      [auditor, 200],
      [clerk, 400],
      [auditor, 200],
    ] as const) {
      expect((await send(service, { method: 'GET', path, headers: who })).status).toBe(status)
    }
  })
})

/** What an attacker sends who knows the definition: letter by letter, by order, by count and by page. */
const attack = [
  ...Array.from('abcdefghijklmnopqrstuvwxyz').flatMap((letter) => [
    `secret.startsWith=${letter}`,
    `secret.contains=${letter}&$count=true&$limit=0`,
    `secret.gte=${letter}&$sort=id`,
    `name.gte=A&secret.lt=${letter}`,
  ]),
  ...['secret.isNull=true', 'score.gte=5', 'score.in=5&score.in=9', 'score.notIn=5', '$sort=score'],
  ...['$sort=-secret&name.in=Ann', '$sort=id,secret', '$fields=secret&id.in=1', '$q=zebra'],
  ...['name.gte=A', 'name.ne=Ann&$count=true', 'id.in=1&id.in=2&id.in=3&$count=true', 'id.gte=3'],
  ...['region.ne=x', 'region.in=y&$count=true', 'name.startsWith=C&$count=true', 'id=3&name.gte=C'],
]

describeForCallers(
  'an attacker',
  (on) => {
    on('receives the same bytes whatever hidden fields and rows contain', async (open) => {
      const worlds = [
        secrets,
        secrets.map((row) =>
          row.region === 'x'
            ? { ...row, secret: `q${row.id}`, score: row.id }
            : { ...row, name: 'Dan', secret: null },
        ),
      ]
      const answers: string[][] = []
      for (const world of worlds) {
        const { ask, plant } = open({ collections: { vault } })
        await plant('vault', world)
        const all: string[] = []
        for (const query of attack) all.push(bytesOf(await ask(clerk, 'GET', `/vault?${query}`)))
        for (const query of ['secret.gte=m', 'score.gte=3', 'name.gte=C'])
          all.push(bytesOf(await ask(clerk, 'GET', `/vault/1?${query}`)))
        answers.push(all)
        const page = await ask(auditor, 'GET', '/vault?secret.startsWith=z')
        expect(valuesIn(page)).toEqual(world === secrets ? [1] : [])
      }
      expect(answers[0]).toEqual(answers[1])
    })

    on('finds by operators only rows of its row rule', async (open) => {
      const { ask, plant } = open({ collections: { vault } })
      await plant('vault', secrets)
      for (const query of [
        'id.gte=1',
        'id.ne=7',
        'region.notIn=z',
        'name.in=Ann&name.in=Cyd&name.in=Bob',
      ]) {
        const page = await ask(clerk, 'GET', `/vault?$sort=id&$count=true&${query}`)
        expect([query, valuesIn(page), page.body.count]).toEqual([query, [1, 2], 2])
      }
      expect((await ask(clerk, 'GET', '/vault/3?id.gte=1')).status).toBe(404)
    })
  },
  { comparesRows: false },
)

test('an operator that is off responds as before it existed', async () => {
  const some: CollectionDefinition = { ...vault, operators: { name: ['startsWith'] } }
  const { service } = openStage({ some, none: { ...some, operators: {} } })
  const get = async (path: string): Promise<string> =>
    bytesOf(await send(service, { method: 'GET', path, headers: clerk }))
  for (const query of queriesOn('name').filter((one) => !one.includes('startsWith'))) {
    expect([query, await get(`/some?${query}`)]).toEqual([query, await get(`/none?${query}`)])
  }
})
