import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { applyRules, connection, endpoint, rule, typed } from '../../src/entries/consume.ts'
import type { TargetCollections } from '../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  error,
  integer,
  json,
  memoryStorage,
  openAccess,
  system,
  text,
} from '../../src/entries/index.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { RuleError } from '../../src/consume/rules/rule-error.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { localStorages, openStorage } from '../kit/storages.ts'

interface Row {
  readonly a: string
  readonly b?: string | null
  readonly code?: string | null
  readonly next?: string | null
  readonly size?: number | null
}

const list = endpoint(connection({ baseUrl: 'https://api.example' }), {
  name: 'list',
  path: '/',
  response: typed<readonly Row[]>(),
})
const fields = {
  code: text({ maxLength: 3, unique: true }),
  size: integer({ maximum: 9 }),
  data: json(),
}
const check = error<{ size: number | null }>('odd', {
  check: ({ size }) => (size === 7 ? 'Seven is odd.' : undefined),
})
const plain = defineCollection(
  { key: 'a', fields: { a: text(), ...fields } },
  { validations: [check] },
)
const pairs = defineCollection({ key: ['a', 'b'], fields: { a: text(), b: text(), ...fields } })
const nodes = defineCollection({
  key: 'a',
  fields: { a: text(), ...fields, next: text({ references: 'nodes' }) },
})
const numbered = defineCollection({
  key: 'id',
  fields: { id: integer({ generated: 'database' }), a: text({ required: true }), ...fields },
})
const seen: string[] = []
const handled = defineCollection(
  { key: 'a', fields: { a: text(), ...fields } },
  {
    events: {
      Insert: {
        before: async ({ item, find }) => {
          const all = await find('handled')
          seen.push(`${item.a} after ${all.length}`)
        },
        after: ({ item }) => void seen.push(`stored ${item.a}`),
      },
    },
  },
)
const collections = { plain, pairs, nodes, numbered, handled }
const set = {
  code: 'code',
  size: 'size',
  data: ({ row }: { row: { readonly size?: number | null | undefined } }) => [row.size ?? 0],
} as const
const rules = {
  plain: rule(list, { into: plain, upsertBy: ['a'], set: { a: 'a', ...set } }),
  last: rule(list, { into: plain, upsertBy: ['a'], repeated: 'last', set: { a: 'a', ...set } }),
  pairs: rule(list, { into: pairs, upsertBy: ['a', 'b'], set: { a: 'a', b: 'b', ...set } }),
  nodes: rule(list, { into: nodes, upsertBy: ['a'], set: { a: 'a', next: 'next', ...set } }),
  numbered: rule(list, { into: numbered, set: { a: 'a', ...set } }),
  handled: rule(list, { into: handled, upsertBy: ['a'], set: { a: 'a', ...set } }),
}
type Name = keyof typeof rules

const word = fc.constantFrom('p', 'P', 'q', 'é', 'r', 's', 't', 'u', '')
const response = fc.array(
  fc.record(
    {
      a: word,
      b: fc.constantFrom('x', 'y'),
      code: fc.constantFrom(null, null, null, 'c', 'd', 'e', 'f', 'long'),
      next: fc.constantFrom(null, null, 'p', 'q'),
      size: fc.constantFrom(null, 1, 2, 3, 4, 5, 6, 7, 10),
    },
    { requiredKeys: ['a'] },
  ),
  { maxLength: 8 },
)
const names = Object.keys(rules) as Name[]

/** Collections in which rules write one item after the other, because they have the public members only. */
function oneByOne({ collection }: TargetCollections): TargetCollections {
  return {
    collection: (...given) => ({ ...publicMembers(collection(...given)) }),
  }
}

function publicMembers<Collection extends object>(collection: Collection): Collection {
  return Object.fromEntries(Object.entries(collection)) as Collection
}

describe.each([...localStorages, ...serverStorages])('on $name', (storage) => {
  test('items that are written together have the outcome of one after the other', async () => {
    const service = createService({
      applications: { app: { collections } },
      storage: openStorage(storage),
      security: openAccess(),
      report: false,
    })
    onTestFinished(() => service.close())
    const user = service.as(system)

    /** Stores responses, each in a transaction, and returns all that can be seen of it. */
    async function outcome(
      name: Name,
      responses: readonly (readonly Row[])[],
      within: (collections: TargetCollections) => TargetCollections,
    ): Promise<unknown> {
      for (const each of Object.keys(collections)) {
        const own = user.collection('app', each as 'plain')
        if (each === 'nodes') await user.collection('app', 'nodes').updateMany({}, { next: null })
        await own.deleteMany({})
      }
      seen.length = 0
      const results: unknown[] = []
      for (const body of responses) {
        try {
          const stored = await user.transaction((own) =>
            applyRules(within(own as TargetCollections), [rules[name]], body),
          )
          results.push(stored)
        } catch (error) {
          if (!(error instanceof RuleError)) throw error
          const { rule: by, table, row, pointer, validations, message, cause } = error
          results.push({ by, table, row, pointer, validations, message, cause: String(cause) })
        }
      }
      const into = name === 'last' ? 'plain' : name
      const { items } = await user.collection('app', into as 'plain').filter({})
      return { results, items: items.map((item) => ({ ...item, id: undefined })), seen: [...seen] }
    }

    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.array(response, { minLength: 1, maxLength: 3 }),
        async (name, responses) => {
          const expected = await outcome(name, responses, oneByOne)
          expect(await outcome(name, responses, (own) => own)).toEqual(expected)
        },
      ),
      { numRuns: storage.isRemote === true ? 150 : 300 },
    )
  }, 120_000)
})

test('items after one that another writer inserts meanwhile are written', async () => {
  const inner = memoryStorage()
  let isHidden = false
  // As in a database whose transactions see what is committed while they run.
  const storage: StorageAdapter = {
    ...inner,
    transaction: (options, work) =>
      inner.transaction(options, (on) =>
        work({
          ...on,
          filter: (...given) => {
            if (!isHidden) return on.filter(...given)
            isHidden = false
            return { rows: [], count: null }
          },
        }),
      ),
  }
  // Each save reads what it refers to, so that it does not wait for its write at once.
  const parts = defineCollection({
    key: 'a',
    fields: { a: text(), of: text({ references: 'plain' }), size: integer() },
  })
  const rows = endpoint(connection({ baseUrl: 'https://api.example' }), {
    name: 'rows',
    path: '/',
    response:
      typed<readonly { readonly a: string; readonly of: string; readonly size: number }[]>(),
  })
  const all = rule(rows, { into: parts, upsertBy: ['a'], set: { a: 'a', of: 'of', size: 'size' } })
  const service = createService({
    applications: { app: { collections: { plain, parts } } },
    storage,
    security: openAccess(),
    report: false,
  })
  onTestFinished(() => service.close())
  const user = service.as(system)
  await user.collection('app', 'plain').insert({ a: 'x' })
  await user.collection('app', 'parts').insert({ a: 'p', of: 'x', size: 1 })
  isHidden = true
  const body = 'p q r s t u v w x y z'.split(' ').map((a) => ({ a, of: 'x', size: 2 }))
  const stored = await user.transaction((own) => applyRules(own as TargetCollections, [all], body))
  const { items } = await user.collection('app', 'parts').filter({})
  expect(items).toEqual(body)
  expect(stored.map(({ action }) => action)).toEqual(
    body.map(({ a }) => (a === 'p' ? 'update' : 'insert')),
  )
})
