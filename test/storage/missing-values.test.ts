import { describe, expect, test } from 'vitest'
import { publishApplications } from '../../src/definition/publish-applications.ts'
import { defineCollection, integer, text } from '../../src/entries/index.ts'
import { inspectStorage } from '../../src/storage/inspection/inspect-storage.ts'
import type { PublishedCollection, Row, StorageAdapter } from '../../src/entries/storage.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { openStorage, storages } from '../kit/storages.ts'

const inServers = serverStorages.filter(({ name }) => !storages.some((one) => one.name === name))

/** The same storage without its own inspection, so that all rows are read. */
function plain({ inspect: _, ...others }: StorageAdapter): StorageAdapter {
  return others
}

describe.each([...storages, ...inServers])('an inspection on $name', (storage) => {
  /** Stores rows, and inspects those of some collections in both ways. */
  async function problemsOf(
    rows: Readonly<Record<string, readonly Row[]>>,
    all: readonly PublishedCollection[],
    inspected = all,
  ) {
    const adapter = openStorage(storage)
    await adapter.open(all)
    await adapter.transaction({ mode: 'write', brief: true }, async (on) => {
      for (const collection of all) {
        for (const row of rows[collection.name] ?? []) await on.insert(collection, row)
      }
    })
    const ways = [adapter, plain(adapter)].map((each) =>
      inspectStorage(each, inspected, () => undefined),
    )
    const [own = [], read = []] = await Promise.all(ways)
    await adapter.close()
    const brief = (problems: typeof own) =>
      problems.map(({ kind, fields, count, message }) => [kind, fields.join(), count, message])
    expect(brief(read)).toEqual(brief(own))
    const quoteless = (example: string) => example.replaceAll(/["']/g, '').slice(0, 12)
    return own.map(({ examples, ...each }) => ({ ...each, examples: examples.map(quoteless) }))
  }

  const table = 'products'
  const id = integer()
  // Drafts of products have no values yet, so that the column of both allows null.
  const drafts = defineCollection({
    key: 'id',
    table,
    fields: { id, sku: text(), stock: integer() },
  })
  const products = defineCollection({
    key: 'id',
    table,
    fields: { id, sku: text({ required: true }), stock: integer({ required: true, default: 0 }) },
  })
  const shop = publishApplications({ shop: { collections: { drafts, products } } })
  const onlyProducts = shop.filter(({ name }) => name === 'products')

  test('lists nulls in required fields, with their number and the keys of three', async () => {
    const rows = [1, 2, 3, 4, 5].map((id) => ({ id, sku: id === 3 ? 'c' : null, stock: 1 }))
    expect(await problemsOf({ drafts: rows }, shop, onlyProducts)).toEqual([
      {
        kind: 'unfit',
        collection: 'shop/products',
        fields: ['sku'],
        count: 4,
        message:
          'sku is required, but 4 of 5 items have no value. Give them one with rowgate schema apply --fill, with SQL, or through the service.',
        examples: ['1: NULL', '2: NULL', '4: NULL'].map((example) =>
          storage.name === 'memory' ? example.toLowerCase() : example,
        ),
      },
    ])
  })

  test('has nothing to say about rows with all required values', async () => {
    const rows = [{ id: 1, sku: '', stock: 0 }]
    expect(await problemsOf({ drafts: rows }, shop, onlyProducts)).toEqual([])
  })

  const maxTargetLength = 60
  const longest = 'x'.repeat(maxTargetLength - '/rest/v1/shop/words/'.length)
  const word = text({ maxLength: 90 })
  const words = publishApplications(
    {
      shop: {
        collections: {
          words: defineCollection({ key: 'word', fields: { word } }),
          pairs: defineCollection({ key: ['word', 'number'], fields: { word, number: integer() } }),
        },
      },
    },
    { maxTargetLength },
  )

  test('lists the items whose key no path can have', async () => {
    const odd = [`${longest}x`, '.', '..', 'é'.repeat(7)]
    const fine = [longest, 'a,b', '...', 'é'.repeat(6)]
    const problems = await problemsOf(
      {
        words: [...fine, ...odd].map((word) => ({ word })),
        pairs: ['a', 'a,b', 'x'.repeat(40), '.'].map((word) => ({ word, number: 1 })),
      },
      words,
    )
    expect(problems.map(({ kind, fields, count }) => [kind, fields, count])).toEqual([
      ['unfit', ['word'], 4],
      ['unfit', ['word', 'number'], 2],
    ])
    expect(problems[0]?.message).toBe(
      `word: the key of 4 of 8 items cannot be in a path, because a part is empty, a dot segment or has a comma, or because it is longer than ${longest.length} bytes, percent-encoded. Pages have these items, but no request reads, updates or deletes one of them. Change the keys with SQL.`,
    )
    expect(problems.flatMap(({ examples }) => examples).toSorted()).toEqual(
      expect.arrayContaining(['.', '..', 'a,b, 1']),
    )
  })
})
