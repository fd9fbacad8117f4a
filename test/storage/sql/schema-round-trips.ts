import fc from 'fast-check'
import { expect } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import type { StoredValue } from '../../../src/definition/field-type.ts'
import {
  boolean,
  date,
  decimal,
  integer,
  text,
  type ApplicationDefinition,
  type Field,
} from '../../../src/entries/index.ts'
import type { PublishedCollection, Row, StorageAdapter } from '../../../src/entries/storage.ts'
import type { SchemaDiff } from '../../../src/schema/changes.ts'
import { allRows } from '../../kit/storages.ts'

/** A database whose tables are changed from one definition to another. */
export interface ChangedDatabase {
  /** Drops every table. */
  empty(): Promise<unknown>
  storage(ensureSchema: boolean): StorageAdapter
  /** Makes all changes, and returns what it has made. */
  apply(collections: readonly PublishedCollection[]): Promise<SchemaDiff>
  diff(collections: readonly PublishedCollection[]): Promise<SchemaDiff>
}

const values = {
  integer: { field: integer(), rows: [1, 2] },
  text: { field: text(), rows: ['a', 'b'] },
  boolean: { field: boolean(), rows: [true, false] },
  date: { field: date(), rows: ['2024-01-01', '2024-01-02'] },
  small: { field: decimal({ precision: 6, scale: 2 }), rows: ['1.25', '-2.00'] },
  large: { field: decimal({ precision: 12, scale: 4 }), rows: ['1.2500', '-2.0000'] },
} as const

type Kind = keyof typeof values

// From each type to those in which its values are the same.
const exact: Readonly<Record<Kind, readonly Kind[]>> = {
  integer: ['integer', 'text'],
  text: ['text'],
  boolean: ['boolean'],
  date: ['date'],
  small: ['small', 'large'],
  large: ['large'],
}

interface Sides {
  readonly isUnique: boolean
  readonly isIndexed: boolean
  readonly isSearched: boolean
  readonly key: 'integer' | 'text'
  readonly reference: 'restrict' | 'cascade' | 'setNull' | undefined
}

const sides: fc.Arbitrary<Sides> = fc.record({
  isUnique: fc.boolean(),
  isIndexed: fc.boolean(),
  isSearched: fc.boolean(),
  key: fc.constantFrom('integer', 'text'),
  reference: fc.constantFrom(undefined, 'restrict', 'cascade', 'setNull'),
})

const column = fc.constantFrom(...(Object.keys(values) as Kind[])).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    next: fc.constantFrom(...exact[kind]),
    at: fc.constantFrom('both', 'old', 'new', 'renamed'),
  }),
)

const scenes = fc.record({ columns: fc.tuple(column, column, column), old: sides, next: sides })

function define(
  fields: Readonly<Record<string, Field>>,
  { key, reference, isUnique, isIndexed, isSearched }: Sides,
): readonly PublishedCollection[] {
  const { field } = values[key]
  const own = Object.keys(fields)
  const group = own.slice(0, 1)
  const parent =
    reference === undefined ? field : { ...field, references: 'parents', onDelete: reference }
  const collections: ApplicationDefinition['collections'] = {
    parents: { key: 'id', fields: { id: field } },
    items: {
      key: 'id',
      fields: { id: integer(), ...fields, parent },
      ...(isUnique && own.length > 0 && { unique: [group] }),
      ...(isIndexed && own.length > 0 && { index: [own] }),
      ...(isSearched && { search: 'indexed' as const }),
    },
  }
  return publishApplications({ shop: { collections } })
}

function named(published: readonly PublishedCollection[], name: string): PublishedCollection {
  return published.find((one) => one.name === name) as PublishedCollection
}

/** Returns the value of a row after its column got a type in which it is the same. */
function converted(value: StoredValue, from: Kind, to: Kind): StoredValue {
  if (from === 'integer' && to === 'text') return String(value)
  return from === 'small' && to === 'large' ? `${String(value)}00` : value
}

/** Changes tables between random definitions, and checks that they fit and have kept their rows. */
export async function checkRoundTrips(database: ChangedDatabase, numRuns: number): Promise<void> {
  const { empty, storage: open, apply, diff } = database
  await fc.assert(
    fc.asyncProperty(scenes, async ({ columns, old, next }) => {
      await empty()
      const all = columns.map((each, index) => ({ name: `c${index}`, ...each }))
      const before = all.filter(({ at }) => at !== 'new')
      const former = define(
        Object.fromEntries(before.map(({ name, kind }) => [name, values[kind].field])),
        old,
      )
      const storage = open(true)
      await storage.open(former)
      const keys = [1, 2].map((key) => (old.key === 'text' ? String(key) : key))
      await storage.transaction({ mode: 'write', brief: true }, async (on) => {
        for (const [at, key] of keys.entries()) {
          const given = before.map(({ name, kind }) => [name, values[kind].rows[at]])
          await on.insert(named(former, 'parents'), { id: key })
          const row = { ...Object.fromEntries(given), id: at + 1, parent: key } as Row
          await on.insert(named(former, 'items'), row)
        }
      })
      await storage.close()

      // No column of texts has numbers only.
      const key = old.key === 'text' ? 'text' : next.key
      const fields = all
        .filter(({ at }) => at !== 'old')
        .map(({ name, kind, next: to, at }): readonly [string, Field] =>
          at === 'renamed'
            ? [`${name}New`, { ...values[kind].field, renamedFrom: name }]
            : [name, values[at === 'both' ? to : kind].field],
        )
      const wanted = define(Object.fromEntries(fields), { ...next, key })
      expect((await apply(wanted)).mistakes).toEqual([])
      expect(await diff(wanted)).toEqual({ changes: [], left: [], mistakes: [] })

      const changed = open(false)
      await changed.open(wanted)
      const [reference] = named(wanted, 'items').references
      if (reference !== undefined) expect(changed.enforces?.(reference)).toBe(true)
      const rows = await allRows(changed, named(wanted, 'items'))
      await changed.close()
      const kept = before.filter(({ at }) => at === 'both' || at === 'renamed')
      const expected = [0, 1].map((at) => ({
        id: at + 1,
        parent: converted(keys[at] ?? null, old.key, key),
        ...Object.fromEntries(
          kept.map(({ name, kind, next: to, at: on }) => {
            const value = values[kind].rows[at] as StoredValue
            return on === 'renamed' ? [`${name}New`, value] : [name, converted(value, kind, to)]
          }),
        ),
      }))
      expect(rows).toMatchObject(expected)
    }),
    { numRuns },
  )
}
