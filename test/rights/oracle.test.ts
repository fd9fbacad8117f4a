import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  json,
  memoryStorage,
  text,
  warning,
  type ApplicationDefinition,
} from '../../src/entries/index.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { changingStorage } from './changing-storage.ts'
import { counter, hiddenValues, openValues, scripts, type Values } from './script.ts'
import { call } from '../kit/stage.ts'
import { bytesOf } from './responses.ts'
import { visitors } from '../kit/visitors.ts'

const closed = { readableBy: ['Auditor'], writableBy: ['Auditor'] } as const
const common = {
  secret: text(closed),
  region: text(),
  name: text({ maxLength: 8 }),
  score: integer(closed),
  size: integer(),
  pin: text({ readableBy: [], writableBy: 'everyone', maxLength: 8 }),
  file: json(closed),
  note: text({ includeByDefault: false }),
  state: text({ readableBy: ['Auditor'], readOnly: true, default: 'new' }),
} as const
const fields = { id: integer(), ...common } as const
const rows = { equal: { region: { attribute: 'region' } }, exceptRoles: ['Auditor'] } as const

const things = defineCollection({ key: 'id', fields, rows })
/** The same with application code around every event, which reveals nothing that is hidden. */
const watched = defineCollection(
  { key: 'id', fields, rows },
  {
    validations: [
      warning('small', {
        field: 'size',
        events: ['Insert', 'Update', 'Delete'],
        check: ({ size }) => (size === 0 ? 'It is small.' : undefined),
      }),
    ],
    events: {
      Filter: { before: () => undefined, after: () => undefined },
      Insert: { before: () => undefined, after: () => undefined },
      Update: { before: () => undefined, after: () => undefined },
      Delete: { before: () => undefined, after: () => undefined },
    },
  },
)
const loose = defineCollection({ fields: common, rows })
const application = { collections: { things, watched, loose } } satisfies ApplicationDefinition

type Data = readonly Values[]
interface Pair {
  readonly one: Data
  readonly other: Data
}

/** Rows of the caller, which differ in hidden values only. */
const hiddenDiffer: fc.Arbitrary<Pair> = fc
  .array(fc.tuple(openValues, hiddenValues, hiddenValues), {
    minLength: 3,
    maxLength: 8,
    size: 'max',
  })
  .map((items) => ({
    one: items.map(([open, hidden], at) => ({ id: at + 1, region: 'north', ...open, ...hidden })),
    other: items.map(([open, , hidden], at) => ({
      id: at + 1,
      region: 'north',
      ...open,
      ...hidden,
    })),
  }))

const foreign = fc.array(
  fc.tuple(
    fc.constantFrom('south', null, '', 'North', 'north ', 'north\u0301', 'a'),
    openValues,
    hiddenValues,
    fc.boolean(),
  ),
  { maxLength: 8, size: 'max' },
)

/** Rows that differ only in those of other regions, which stand before and after the caller's own. */
const foreignDiffer: fc.Arbitrary<Pair> = fc
  .tuple(
    fc.array(fc.tuple(openValues, hiddenValues), { minLength: 3, maxLength: 6, size: 'max' }),
    foreign,
    foreign,
  )
  .map(([own, ...others]) => {
    const mine = own.map(([open, hidden], at) => ({
      id: at + 1,
      region: 'north',
      ...open,
      ...hidden,
    }))
    const [one = [], other = []] = others.map((theirs) => {
      const rest = theirs.map(([region, open, hidden, first], at) => ({
        first,
        item: { id: 11 + at, region, ...open, ...hidden },
      }))
      const before = rest.filter(({ first }) => first).map(({ item }) => item)
      return [...before, ...mine, ...rest.filter(({ first }) => !first).map(({ item }) => item)]
    })
    return { one, other }
  })

const storages: Readonly<Record<string, () => StorageAdapter>> = {
  memory: memoryStorage,
  sqlite: () => sqliteStorage(':memory:', { ensureSchema: true }),
}

/** A service whose rows can be exchanged. */
function serve(create: () => StorageAdapter) {
  const { storage, plant } = changingStorage(create)
  const service = createService({
    applications: { app: application },
    security: visitors,
    storage,
  })
  return { service, plant }
}

/** Checks that two services with different data have the same responses to scripts, and counts the requests. */
async function compare(create: () => StorageAdapter, pairs: fc.Arbitrary<Pair>): Promise<Counter> {
  const asks = counter()
  const [left, right] = [serve(create), serve(create)]
  const property = fc.asyncProperty(pairs, scripts, async ({ one, other }, script) => {
    await left.service.ready()
    await right.service.ready()
    await left.plant(one)
    await right.plant(other)
    for (const asked of script) {
      const answer = await call(left.service, asked)
      const second = await call(right.service, asked)
      const { method, path, body } = asked
      const told = `${method} ${path} ${JSON.stringify(body)}`
      expect(bytesOf(second), told).toBe(bytesOf(answer))
      expect(answer.status, told).toBeLessThan(500)
      asks.count(asked, answer.status)
    }
  })
  try {
    await fc.assert(property, { numRuns: runs })
  } finally {
    await left.service.close()
    await right.service.close()
  }
  return asks
}

const runs = 100

type Counter = ReturnType<typeof counter>

describe.each(Object.entries(storages))(
  'on %s a response reveals nothing about',
  (_name, create) => {
    test.each([
      ['hidden fields', hiddenDiffer],
      ['rows of others', foreignDiffer],
    ])('%s', async (_what, pairs) => {
      const { least } = await compare(create, pairs)
      // Scripts that are rejected everywhere, or never ask for something, would prove nothing.
      expect(least(['GET', 'POST', 'DELETE', '400', '403', '404'])).toBeGreaterThan(runs / 5)
    })
  },
)
