import { describe, expect, test } from 'vitest'
import {
  defineCollection,
  integer,
  principal,
  system,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { limited } from '../kit/limited-storage.ts'
import { withServices, type TestService } from '../kit/service.ts'
import { memory, storages, type Storage } from '../kit/storages.ts'

/** True, false, or null for unknown. */
type Truth = boolean | null

type Parent = {
  readonly id: number
  readonly owner: string | null
}

type Item = {
  readonly id: number
  readonly state: string | null
  readonly parent: number | null
}

/** The caller may read the first. Whether it may read the third is unknown. */
const parents: readonly Parent[] = [
  { id: 1, owner: 'maria' },
  { id: 2, owner: 'otto' },
  { id: 3, owner: null },
]
/** The parent 9 is missing. */
const items: readonly Item[] = ['a', 'b', null].flatMap((state, row) =>
  [1, 2, 3, 9, null].map((parent, column) => ({ id: row * 5 + column + 1, state, parent })),
)

/** A condition of a row rule, and whether an item meets it. */
interface Rule {
  readonly where: object
  readonly of: (item: Item) => Truth
}

const known = (value: string | null, truth: (value: string) => boolean): Truth =>
  value === null ? null : truth(value)
const not = (truth: Truth): Truth => (truth === null ? null : !truth)
const both = (all: readonly Truth[]): Truth =>
  all.includes(false) ? false : all.includes(null) ? null : true
const either = (all: readonly Truth[]): Truth => not(both(all.map(not)))

const onState = (condition: unknown, of: (state: string | null) => Truth): Rule => ({
  where: { state: condition },
  of: ({ state }) => of(state),
})

const states: readonly Rule[] = [
  onState('a', (state) => known(state, (it) => it === 'a')),
  onState({ ne: 'a' }, (state) => known(state, (it) => it !== 'a')),
  onState(null, (state) => state === null),
  onState({ ne: null }, (state) => state !== null),
  onState({ isNull: true }, (state) => state === null),
  onState({ isNull: false }, (state) => state !== null),
  onState({ lt: 'b' }, (state) => known(state, (it) => it < 'b')),
  onState({ lte: 'a' }, (state) => known(state, (it) => it <= 'a')),
  onState({ gt: 'a' }, (state) => known(state, (it) => it > 'a')),
  onState({ gte: 'b' }, (state) => known(state, (it) => it >= 'b')),
  onState({ gte: 'a', ne: 'b' }, (state) => known(state, (it) => it >= 'a' && it !== 'b')),
  onState({ in: ['a', 'c'] }, (state) => known(state, (it) => it === 'a')),
  onState({ notIn: ['a', 'c'] }, (state) => known(state, (it) => it !== 'a')),
  onState({ in: ['a', null] }, (state) => state === null || state === 'a'),
  onState({ notIn: ['a', null] }, (state) => state !== null && state !== 'a'),
  onState({ in: [] }, () => false),
  onState({ notIn: [] }, () => true),
  onState({ contains: 'a' }, (state) => known(state, (it) => it === 'a')),
  onState({ startsWith: 'b' }, (state) => known(state, (it) => it === 'b')),
]

const [isA, isNotA, isNull] = states as readonly [Rule, Rule, Rule]

/** Whether the caller may read the parent; unknown without one. */
const through: Rule = {
  where: { through: { field: 'parent', collection: 'parents' } },
  of: ({ parent }) => {
    const found = parents.find(({ id }) => id === parent)
    return found === undefined ? null : known(found.owner, (owner) => owner === 'maria')
  },
}

/** Whether there is a parent of the caller that the rule, which goes through another one, allows. */
const farther: Rule = {
  where: { through: { field: 'parent', collection: 'others' } },
  of: (item) => not(through.of(item)),
}

const group = (name: 'and' | 'or' | 'not', all: readonly Rule[]): Rule => ({
  where: { [name]: all.map(({ where }) => where) },
  of: (item) => {
    const truths = all.map((rule) => rule.of(item))
    return name === 'and' ? both(truths) : name === 'or' ? either(truths) : not(either(truths))
  },
})
const negated = (rule: Rule): Rule => ({
  where: { not: rule.where },
  of: (item) => not(rule.of(item)),
})

/** Each condition by itself, negated, and in groups with others. */
function combinations(conditions: readonly Rule[], partners: readonly Rule[]): readonly Rule[] {
  const groups = conditions.flatMap((one) =>
    partners.flatMap((other) => [
      group('and', [one, other]),
      group('or', [one, other]),
      group('not', [one, other]),
      group('or', [negated(one), group('and', [other, negated(other)])]),
    ]),
  )
  return [...conditions, group('and', []), group('or', []), ...groups].flatMap((rule) => [
    rule,
    negated(rule),
    negated(negated(rule)),
  ])
}

const maria = principal('maria', { roles: ['Reader'] })
const fields = { id: integer(), state: text(), parent: integer(), note: text() } as const

const plain = defineCollection({ key: 'id', fields })
const parentFields = { id: integer(), owner: text() } as const

/** The collections that the rules go through. */
const throughCollections = {
  parents: defineCollection({
    key: 'id',
    fields: parentFields,
    rows: { equal: { owner: { principal: 'user' } } },
  }),
  others: defineCollection({
    key: 'id',
    fields: parentFields,
    table: 'parents',
    rows: { where: { not: { through: { field: 'id', collection: 'parents' } } } },
  }),
  closed: defineCollection({
    key: 'id',
    fields: parentFields,
    table: 'parents',
    eventRoles: { Filter: ['Chief'] },
  }),
}

type Open = Parameters<Parameters<typeof withServices>[1]>[0]

/** Stores the items and their parents. */
async function plant({ service }: TestService): Promise<void> {
  const all = service.as(system)
  await all.collection('app', 'parents').insertMany(parents)
  await all.collection('app', 'items').insertMany(items)
}

/** Returns the items that the caller sees. */
async function visibleIn({ service }: TestService, name: string): Promise<readonly unknown[]> {
  const access = service.as(maria).collection('app', name)
  const page = await access.filter({}, { count: true, sort: ['id'] })
  const ids = page.items.map(({ id }) => id)
  expect(page.count).toBe(ids.length)
  return ids
}

/** Opens a service whose rule for the items is a function. */
function openTable(open: Open, serve: Pick<CollectionDefinition, 'serve'> = {}) {
  let rule: Rule = group('and', [])
  const ruled = defineCollection({ key: 'id', fields }, { rows: () => rule.where as never })
  const subject = open({
    collections: {
      ...throughCollections,
      items: { ...(ruled as unknown as CollectionDefinition), ...serve },
    },
  })
  const access = subject.service.as(maria).collection('app', 'items')
  return {
    subject,
    access,
    visible: (under: Rule): Promise<readonly unknown[]> => {
      rule = under
      return visibleIn(subject, 'items')
    },
  }
}

const expected = ({ of }: Rule): readonly number[] =>
  items.filter((item) => of(item) === true).map(({ id }) => id)

const minimal: Storage = {
  name: 'an adapter with equality only',
  open: () => ({ storage: limited(), remove: () => undefined }),
}

describe.each([...storages, minimal])('the row rule on $name', (storage) => {
  test('shows the items for which it is true, and not those for which it is unknown', async () => {
    await withServices(storage, async (open) => {
      const { subject, visible } = openTable(open)
      await plant(subject)
      const rules = [
        ...combinations(states, [isA, isNull]),
        ...combinations([through, farther], [isA, isNull, through, farther]),
      ]
      for (const rule of rules)
        expect([rule.where, await visible(rule)]).toEqual([rule.where, expected(rule)])
    })
  })

  test('shows no item by a collection that the caller may not read, in no group', async () => {
    await withServices(storage, async (open) => {
      const { subject, visible } = openTable(open)
      await plant(subject)
      const closed: Rule = {
        where: { through: { field: 'parent', collection: 'closed' } },
        of: () => null,
      }
      for (const rule of combinations([negated(closed), group('or', [closed, isA])], [isA]))
        expect([rule.where, await visible(rule)]).toEqual([rule.where, expected(rule)])
    })
  })

  test('decides about updates, deletes and inserts as it does about pages', async () => {
    await withServices(storage, async (open) => {
      const { subject, access, visible } = openTable(open)
      await plant(subject)
      for (const rule of [negated(isA), isNotA, negated(through), group('not', [isA, farther])]) {
        const ids = await visible(rule)
        for (const item of items) {
          const isVisible = ids.includes(item.id)
          expect(isVisible).toBe(rule.of(item) === true)
          const updated = await access.update(item.id, { note: 'x' })
          expect([rule.where, item, updated !== undefined]).toEqual([rule.where, item, isVisible])
          const inserted = access.insert({ ...item, id: 100 })
          if (isVisible) expect(await inserted).toMatchObject({ rejected: false })
          else await expect(inserted).rejects.toMatchObject({ code: 'FORBIDDEN' })
          expect((await access.delete(100)) !== undefined).toBe(isVisible)
        }
      }
    })
  })

  test('has the same values as data', async () => {
    const rules: readonly Rule[] = [
      ...states.map(negated),
      negated(through),
      group('not', [through, farther]),
      group('or', [negated(through), isA]),
    ]
    const ruled = rules.map(
      ({ where: conditions }, index) =>
        [
          `items${index}`,
          defineCollection({ key: 'id', fields, table: 'items', rows: { where: conditions } }),
        ] as const,
    )
    await withServices(storage, async (open) => {
      const collections = { ...throughCollections, items: plain, ...Object.fromEntries(ruled) }
      const subject = open({ collections })
      await plant(subject)
      for (const [index, rule] of rules.entries())
        expect([rule.where, await visibleIn(subject, `items${index}`)]).toEqual([
          rule.where,
          expected(rule),
        ])
    })
  })
})

test('the row rule of a served collection has three values', async () => {
  await withServices(memory, async (open) => {
    const stored = new Map(items.map((item) => [item.id, { ...item, note: null }]))
    const { access, visible } = openTable(open, {
      serve: {
        filter: () => [...stored.values()] as never,
        update: ({ item }) => item,
      },
    })
    for (const rule of combinations(states, [isA, isNull]))
      expect([rule.where, await visible(rule)]).toEqual([rule.where, expected(rule)])
    const ids = await visible(negated(isA))
    for (const { id } of items) {
      const updated = await access.update(id, { note: 'x' })
      expect([id, updated !== undefined]).toEqual([id, ids.includes(id)])
    }
  })
})

test('conditions of application code have two values: null is not the value', async () => {
  await withServices(memory, async (open) => {
    const subject = open({ collections: { ...throughCollections, items: plain } })
    await plant(subject)
    const access = subject.service.as(system).collection('app', 'items')
    for (const conditions of [
      { state: { ne: 'a' } },
      { not: { state: 'a' } },
      { state: { notIn: ['a'] } },
    ])
      expect([conditions, await access.count(conditions)]).toEqual([conditions, 10])
  })
})
