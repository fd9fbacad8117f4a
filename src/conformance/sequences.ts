import type { PublishedCollection } from '../definition/published.ts'
import type { Condition, Row, StorageQuery } from '../request/query.ts'
import { plainConditions } from '../request/query.ts'
import { searchText, type StorageAdapter, type StorageTransaction } from '../storage/adapter.ts'
import { equal, expectStorageError } from './assertion.ts'
import { equals, find, pick, queryOf, store, writing, type ConformanceCase } from './case.ts'
import { orderLines, rowOf, samples } from './collections.ts'
import { expectedPage, meets, type Model } from './model.ts'

// The rows that conditions on order lines go through.
const parents: readonly Row[] = [
  { id: 0, label: 'x', quantity: 5 },
  { id: 1, label: null, quantity: null },
  { id: 9, label: 'X', quantity: 40 },
].map((row) => rowOf(samples, row))

/** The values of each field. They are few, so that keys and conditions match often. */
const palettes: readonly (readonly [
  PublishedCollection,
  Readonly<Record<string, readonly Row[string][]>>,
])[] = [
  [
    orderLines,
    {
      orderId: [-2, 0, 1, 9, 10],
      product: ['', 'a', 'A', 'a ', 'ab', '\uffe5', '\u{1f600}'],
      quantity: [null, 0, 1, 2, 10, -1],
      note: [null, '', 'rum', 'Rum', '50%', 'a_b', 'null'],
    },
  ],
  [
    samples,
    {
      id: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
      label: [null, '', 'x', 'X', 'x ', 'é', 'e\u0301', '%'],
      quantity: [null, 0, -5, 5, 40],
      large: [null, '0', '-9223372036854775808', '9007199254740993', '9007199254740992', '70'],
      amount: [null, '0.0000', '-0.5000', '10.0000', '9.5000', '1234567890123456.7891'],
      flag: [null, true, false],
      day: [null, '2024-01-31', '2024-02-01', '0999-01-01'],
      hour: [null, '00:00:00', '09:59:59', '10:00:00'],
      moment: [null, '2024-01-01T00:00:00Z', '2024-01-01T00:00:00.001Z'],
    },
  ],
]

/** Random sequences of operations, each compared with a simple model. */
export const sequenceCases: readonly ConformanceCase[] = Array.from({ length: 50 }, (_, index) =>
  sequenceCase(index + 1),
)

/** Returns the case of one random sequence. */
export function sequenceCase(seed: number): ConformanceCase {
  return {
    name: `sequence ${seed} of random operations agrees with a simple model`,
    run: ({ adapter }) => runSequence(adapter, seed),
  }
}

async function runSequence(adapter: StorageAdapter, seed: number): Promise<void> {
  const random = createRandom(seed)
  const [collection, palette] = random.pick(palettes)
  const names = Object.keys(palette)
  const model: Model = {
    rows: [],
    rowsOf: (other) => (other === collection ? model.rows : parents),
  }
  const kinds = adapter.supports.conditions ?? plainConditions
  const context: Context = { collection, palette, names, random, model, kinds }
  if (collection !== samples) await store(adapter, samples, parents)
  await store(adapter, collection, seedRows(context))
  for (let round = 0; round < 6; round++) {
    const before = model.rows
    const undone = random.below(4) === 0
    const work = adapter.transaction({ ...writing, brief: random.below(2) === 0 }, async (on) => {
      for (let step = 0; step < 6; step++) await operate(on, context)
      if (undone) throw new Undone('undone')
    })
    await work.catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
      model.rows = before
    })
    await compare(adapter, context)
  }
  equal(
    await find(adapter, collection),
    expectedPage(model, collection, queryOf(collection)).rows,
    'the rows',
  )
}

class Undone extends Error {}

interface Context {
  readonly collection: PublishedCollection
  readonly palette: Readonly<Record<string, readonly Row[string][]>>
  readonly names: readonly string[]
  readonly random: Random
  readonly model: Model
  readonly kinds: readonly Condition['is'][]
}

function seedRows(context: Context): readonly Row[] {
  const { collection, model } = context
  for (let index = 0; index < 8; index++) {
    const row = randomRow(context)
    if (!model.rows.some((other) => isMet(context, other, conditionsOfKey(collection, row)))) {
      model.rows = [...model.rows, row]
    }
  }
  return model.rows
}

async function operate(on: StorageTransaction, context: Context): Promise<void> {
  const { collection, random, model } = context
  const row = randomRow(context)
  const key = conditionsOfKey(collection, row)
  const extra = random.below(2) === 0 ? [] : [randomCondition(context)]
  const conditions = [...extra, ...key]
  const target = model.rows.find((other) => isMet(context, other, conditions))
  switch (random.below(4)) {
    case 0:
      await compare(on, context)
      return
    case 1: {
      const insert = (): unknown => on.insert(collection, row)
      if (model.rows.some((other) => isMet(context, other, key))) {
        await expectStorageError(insert, 'duplicate', 'insert')
      } else {
        equal(await insert(), row, 'the row that insert returned')
        model.rows = [...model.rows, row]
      }
      return
    }
    case 2: {
      const changes = randomChanges(context, row)
      const expected = target === undefined ? undefined : { ...target, ...changes }
      const changed = await on.update(collection, conditions, changes)
      equal(changed, expected, 'the row that update returned')
      model.rows = model.rows.map((other) => (other === target ? (expected ?? other) : other))
      return
    }
    default:
      equal(await on.delete(collection, conditions), target, 'the row that delete returned')
      model.rows = model.rows.filter((other) => other !== target)
  }
}

async function compare(
  reader: Pick<StorageTransaction, 'filter'>,
  context: Context,
): Promise<void> {
  const query = randomQuery(context)
  const page = await reader.filter(context.collection, query)
  const expected = expectedPage(context.model, context.collection, query)
  const cut = (rows: readonly Row[]): readonly Row[] => rows.map((row) => pick(row, query.select))
  const actual = { rows: cut(page.rows), count: page.count }
  equal(actual, { ...expected, rows: cut(expected.rows) }, `the page of ${JSON.stringify(query)}`)
}

function randomRow({ collection, palette, names, random }: Context): Row {
  const values = names.map((name) => [name, random.pick(palette[name] ?? [null])])
  return rowOf(collection, Object.fromEntries(values) as Row)
}

function randomChanges(context: Context, row: Row): Row {
  const { collection, names, random } = context
  const free = names.filter((name) => collection.byName.get(name)?.inKey !== true)
  const chosen = free.filter(() => random.below(2) === 0)
  return Object.fromEntries(chosen.map((name) => [name, row[name] ?? null]))
}

function isMet(
  { model, collection }: Context,
  row: Row,
  conditions: readonly Condition[],
): boolean {
  return meets(model, collection, row, conditions)
}

function randomCondition(context: Context, depth = 0): Condition {
  const { palette, names, random, kinds, collection } = context
  // One half are equalities, which most queries consist of.
  const is = random.pick(random.below(2) === 0 ? plainConditions : kinds)
  const field = random.pick(names)
  const pick = (): Row[string] => random.pick(palette[field] ?? [null]) ?? null
  const value = pick()
  switch (is) {
    case 'equal':
      return { field, is, value }
    case 'empty':
      return { field, is }
    case 'in': {
      const values = Array.from({ length: random.below(4) }, pick)
      return { field, is, values: values.filter((one) => one !== null) }
    }
    case 'contains':
    case 'startsWith': {
      const text = random.pick(['', 'a', 'A', 'x', 'ru', '%', '_', '\u{1f600}', 'e'])
      return { field: collection === samples ? 'label' : 'note', is, text }
    }
    case 'lt':
    case 'lte':
    case 'gt':
    case 'gte':
      return value === null ? { field, is: 'empty' } : { field, is, value }
    default:
      return depth > 2 ? { field, is: 'empty' } : nestedCondition(context, is, depth + 1)
  }
}

function nestedCondition(
  context: Context,
  is: 'and' | 'or' | 'not' | 'through',
  depth: number,
): Condition {
  const { random, collection } = context
  const inner = (length: number): readonly Condition[] =>
    Array.from({ length }, () => randomCondition(context, depth))
  if (is === 'not') return { is, condition: randomCondition(context, depth) }
  if (is !== 'through') return { is, conditions: inner(random.below(4)) }
  const own = collection === samples
  const conditions = own ? inner(random.below(2)) : randomParent(random)
  return { is, collection: samples, fields: [own ? 'quantity' : 'orderId'], conditions }
}

function randomParent(random: Random): readonly Condition[] {
  return random.pick([
    [],
    equals({ label: 'x' }),
    equals({ quantity: 40 }),
    equals({ label: null }),
  ])
}

function randomQuery(context: Context): StorageQuery {
  const { collection, names, random } = context
  const sorted = names.filter(() => random.below(3) === 0)
  const fields = names.filter((name) => collection.searchNames.includes(name))
  const word = searchText(random.pick(['rum', '%', '_', 'a', '0', '-', '2024', 'X']))
  return queryOf(collection, {
    conditions: Array.from({ length: random.below(3) }, () => randomCondition(context)),
    search: random.below(3) === 0 ? { fields, text: word } : null,
    sort: sorted.map((field) => ({ field, descending: random.below(2) === 0 })),
    limit: random.pick([0, 1, 3, 100]),
    offset: random.pick([0, 0, 0, 1, 5, 100]),
    select: random.below(2) === 0 ? collection.allNames : names.slice(random.below(names.length)),
    count: random.below(2) === 0,
  })
}

function conditionsOfKey(collection: PublishedCollection, row: Row): readonly Condition[] {
  return equals(Object.fromEntries(collection.key.map(({ name }) => [name, row[name] ?? null])))
}

/** A generator of pseudorandom numbers. */
interface Random {
  /** An integer from 0 up to, but not including, the bound. */
  below(bound: number): number
  /** One of the values. */
  pick<Value>(values: readonly Value[]): Value
}

/** Creates a generator (mulberry32). The fixed seed makes a failure reproducible. */
function createRandom(seed: number): Random {
  let state = seed
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
  return {
    below,
    pick: (values) => {
      const [value] = values.slice(below(values.length))
      if (value === undefined) throw new RangeError('The list is empty.')
      return value
    },
  }
}
