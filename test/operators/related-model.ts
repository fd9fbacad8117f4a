import fc from 'fast-check'
import {
  computed,
  decimal,
  defineCollection,
  integer,
  json,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'

/** A row of the model, in the form of items. */
export type ModelRow = Readonly<Record<string, string | number | boolean | null>>

/** A caller of the model: reads everything, the rows of a region, or only what has no row rule for it. */
export type Caller = 'auditor' | 'clerk' | 'guest'

const rows = { equal: { region: { attribute: 'region' } }, exceptRoles: ['Auditor'] } as const
const hidden = { readableBy: ['Auditor'] } as const

const owned = defineCollection(
  {
    key: 'code',
    fields: {
      code: text({ maxLength: 9 }),
      name: text(),
      size: integer(),
      region: text(),
      secret: text(hidden),
      remark: text({ includeByDefault: false }),
    },
  },
  {
    rows,
    computed: {
      label: computed(text({ includeByDefault: true }), ['name'], ({ name }) => `<${name ?? ''}>`),
    },
  },
)
const shelves = defineCollection({
  key: ['hall', 'place'],
  fields: {
    hall: text({ maxLength: 9 }),
    place: integer(),
    height: decimal({ precision: 9, scale: 2 }),
  },
})
const parts = defineCollection({
  key: ['thingId', 'partNo'],
  fields: {
    thingId: integer({ references: 'things' }),
    partNo: integer(),
    region: text(),
    weight: decimal({ precision: 9, scale: 2 }),
    price: integer(hidden),
    data: json(),
  },
  rows,
})
const notes = defineCollection({
  key: 'noteId',
  fields: {
    noteId: integer(),
    aboutId: integer({ references: 'things', ...hidden }),
    body: text(),
  },
})
const seals = defineCollection({
  key: 'sealId',
  fields: { sealId: integer(), thingId: integer({ references: 'things' }) },
  eventRoles: { Filter: ['Auditor'] },
})

/** The collections that the items of the model have relations with. */
export const relatedCollections: Readonly<Record<string, CollectionDefinition>> = {
  owners: owned,
  shelves,
  parts,
  notes,
  seals,
}

/** The relations of the collection of the model. */
export const expand = {
  owner: 'ownerId',
  patron: 'patronId',
  shelf: ['hall', 'place'],
  parts: { from: 'parts', sort: '-weight', limit: 3 },
  notes: { from: 'notes' },
  seals: { from: 'seals', limit: 1 },
} as const

const relationNames = Object.keys(expand) as (keyof typeof expand)[]

/** Relations that are unknown to all callers but the auditor: of a hidden field, or a hidden collection. */
export const hiddenRelations: readonly string[] = ['patron', 'notes', 'seals']

/** The items that the fields `ownerId` and `patronId` refer to: some of them, such as `c`, are not for everyone. */
export const owners: readonly ModelRow[] = [
  { code: 'a', name: 'ab', size: 9, region: 'x', secret: 'a', remark: 'r' },
  { code: 'b', name: 'B', size: null, region: 'x', secret: 'b', remark: null },
  { code: 'c', name: 'ab', size: 10, region: 'y', secret: null, remark: null },
  { code: 'd', name: null, size: -1, region: 'x', secret: 'b', remark: null },
]

export const halls = ['ä b', '"']
export const places = [-1, 20]

/** The items that the fields `hall` and `place` refer to together. */
export const shelfRows: readonly ModelRow[] = halls.flatMap((hall) =>
  places.map((place) => ({ hall, place, height: place < 0 ? null : '2.50' })),
)

const thingId = fc.nat(12)
const distinctBy = <Row extends object>(...names: readonly (keyof Row)[]) => ({
  selector: (row: Row): string => names.map((name) => String(row[name])).join(' '),
  maxLength: 40,
})
const part = fc.record({
  thingId,
  partNo: fc.integer({ min: -3, max: 12 }),
  region: fc.constantFrom('x', 'x', 'y'),
  weight: fc.constantFrom(null, '-1.50', '0.00', '9.00', '10.00'),
  price: fc.constantFrom(null, 1, 2),
  data: fc.constantFrom<unknown>(null, [1, '"ä'], { a: { b: [] } }, 'text', 0),
})
const note = fc.record({
  noteId: fc.nat(60),
  aboutId: fc.option(thingId),
  body: fc.constantFrom(null, 'n'),
})
const seal = fc.record({ sealId: fc.nat(60), thingId: fc.option(thingId) })

/** Items that refer to those of the model. */
export const relatedRows = fc.record({
  parts: fc.uniqueArray(part, distinctBy<{ thingId: number; partNo: number }>('thingId', 'partNo')),
  notes: fc.uniqueArray(note, distinctBy<{ noteId: number }>('noteId')),
  seals: fc.uniqueArray(seal, distinctBy<{ sealId: number }>('sealId')),
})

type Related = typeof relatedRows extends fc.Arbitrary<infer Rows> ? Rows : never

/** Leaves out the items that refer to items that do not exist. */
export function fitting({ parts, notes, seals }: Related, count: number): Related {
  return {
    parts: parts.filter((one) => one.thingId < count),
    notes: notes.filter(({ aboutId }) => aboutId === null || aboutId < count),
    seals: seals.filter((one) => one.thingId === null || one.thingId < count),
  }
}

/** The relations that a request names, mostly few of them. */
export const relations: fc.Arbitrary<readonly string[]> = fc.oneof(
  fc.constant([] as string[]),
  fc.shuffledSubarray<string>([...relationNames], { minLength: 1, maxLength: 3 }),
  fc.shuffledSubarray(['owner', 'shelf', 'parts'], { minLength: 1 }),
)

export function ownersFor(who: Caller): readonly ModelRow[] {
  return visible(owners, who)
}

function visible<Row extends object>(all: readonly Row[], who: Caller): readonly Row[] {
  if (who === 'auditor') return all
  return all.filter((row) => who === 'clerk' && 'region' in row && row.region === 'x')
}

/** Returns the members of an item for its relations, in the order of the definition: written apart from the library. */
export function relatedTo(
  row: ModelRow,
  named: readonly string[],
  { rows: { parts, notes, seals }, who }: { readonly rows: Related; readonly who: Caller },
): Readonly<Record<string, unknown>> {
  const isAuditor = who === 'auditor'
  const owner = (code: unknown) => {
    const found = ownersFor(who).find((one) => one['code'] === code)
    if (found === undefined) return null
    const { remark: _remark, secret, ...shown } = found
    return { ...shown, ...(isAuditor && { secret }), label: `<${shown['name'] ?? ''}>` }
  }
  const heaviest = visible(parts, who)
    .filter((one) => one.thingId === row['id'])
    .toSorted((a, b) => weightOf(b) - weightOf(a) || a.partNo - b.partNo)
    .map(({ price, data, ...shown }) => ({ ...shown, ...(isAuditor && { price }), data }))
  const members: Readonly<Record<keyof typeof expand, () => unknown>> = {
    owner: () => owner(row['ownerId']),
    patron: () => owner(row['patronId']),
    shelf: () =>
      shelfRows.find(({ hall, place }) => hall === row['hall'] && place === row['place']) ?? null,
    parts: () => list(heaviest, 3),
    notes: () =>
      list(
        notes
          .filter(({ aboutId }) => aboutId === row['id'])
          .toSorted((a, b) => a.noteId - b.noteId),
        20,
      ),
    seals: () =>
      list(
        seals.filter((one) => one.thingId === row['id']).toSorted((a, b) => a.sealId - b.sealId),
        1,
      ),
  }
  const asked = relationNames.filter((name) => named.includes(name))
  return Object.fromEntries(asked.map((name) => [name, members[name]()]))
}

function weightOf({ weight }: { readonly weight: string | null }): number {
  return weight === null ? -Infinity : Number(weight)
}

function list(all: readonly object[], limit: number): object {
  return { items: all.slice(0, limit), more: all.length > limit }
}
