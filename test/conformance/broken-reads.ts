import {
  withFilter,
  changingQuery,
  changingRows,
  everyRow,
  withLenience,
  withOrder,
  mapped,
  type BrokenAdapter,
} from './broken-memory.ts'
import { memoryStorage } from '../../src/storage/memory/memory.ts'

/** Defects of queries. */
export const brokenReads: readonly BrokenAdapter[] = [
  {
    defect: 'always returns the same version',
    root: /a version/,
    create: () => ({ ...memoryStorage(), version: () => 1 }),
  },
  {
    defect: 'returns another version each time',
    root: /a version/,
    create: () => {
      let version = 0
      return { ...memoryStorage(), version: () => ++version }
    },
  },
  {
    defect: 'compares without case',
    root: /distinguishes letter case/,
    create: () => withLenience('case'),
  },
  {
    defect: 'compares without trailing spaces',
    root: /trailing/,
    create: () => withLenience('spaces'),
  },
  {
    defect: 'compares normal forms alike',
    root: /normal forms/,
    create: () => withLenience('normal forms'),
  },
  {
    defect: 'compares strings as numbers',
    root: /look like numbers/,
    create: () => withLenience('numbers'),
  },
  {
    defect: 'treats the empty string as null',
    root: /equal to null/,
    create: () => withLenience('empty is null'),
  },
  {
    defect: 'treats only null as empty',
    root: /condition `empty`/,
    create: () => withLenience('null is empty'),
  },
  {
    defect: 'requires any condition instead of all',
    root: /all conditions/,
    create: () => withLenience('any'),
  },
  {
    defect: 'searches with wildcards',
    root: /search for "%"/,
    create: () => withLenience('wildcards'),
  },
  {
    defect: 'searches with letter case',
    root: /search for "berl"/,
    create: () => withLenience('exact search'),
  },
  {
    defect: 'searches without accents',
    root: /search for "é"/,
    create: () => withLenience('no accents'),
  },
  {
    defect: 'searches all fields',
    root: /named fields only/,
    create: () => withLenience('all fields'),
  },
  { defect: 'sorts null last', root: /null first/, create: () => withOrder('null last') },
  { defect: 'sorts by locale', root: /strings by code point/, create: () => withOrder('locale') },
  { defect: 'sorts by UTF-16 unit', root: /UTF-16/, create: () => withOrder('UTF-16') },
  {
    defect: 'sorts bigints as strings',
    root: /64-bit integers by value/,
    create: () => withOrder('strings'),
  },
  {
    defect: 'sorts decimals as doubles',
    root: /decimals by value/,
    create: () => withOrder('doubles'),
  },
  {
    defect: 'sorts by the first field only',
    root: /ties are broken/,
    create: () => withOrder('first field'),
  },
  {
    defect: 'counts the page',
    root: /the count ignores limit/,
    create: () =>
      withFilter((filter) => async (collection, query) => {
        const page = await filter(collection, query)
        return { ...page, count: page.count === null ? null : page.rows.length }
      }),
  },
  {
    defect: 'counts all rows',
    root: /the count follows/,
    create: () =>
      withFilter((filter) => async (collection, query) => {
        const page = await filter(collection, query)
        const all = await filter(collection, { ...query, ...everyRow })
        return { ...page, count: page.count === null ? null : all.rows.length }
      }),
  },
  {
    defect: 'counts without a request',
    root: /null if it is not requested/,
    create: () => withFilter(changingQuery((query) => ({ ...query, count: true }))),
  },
  {
    defect: 'treats limit 0 as no limit',
    root: /limit 0/,
    create: () => withFilter(changingQuery((query) => ({ ...query, limit: query.limit || 1000 }))),
  },
  {
    defect: 'ignores the offset',
    root: /offset/,
    create: () => withFilter(changingQuery((query) => ({ ...query, offset: 0 }))),
  },
  {
    defect: 'returns decimals without their zeros',
    root: /decimals with their zeros/,
    create: () =>
      withFilter(
        changingRows((row, { byName }) =>
          mapped(row, (value, name) =>
            value !== null && byName.get(name)?.type === 'decimal' ? String(Number(value)) : value,
          ),
        ),
      ),
  },
  {
    defect: 'returns booleans as numbers',
    root: /keeps booleans/,
    create: () =>
      withFilter(
        changingRows((row) =>
          mapped(row, (value) => (typeof value === 'boolean' ? Number(value) : value)),
        ),
      ),
  },
  {
    defect: 'leaves out fields without value',
    root: /null in every other field/,
    create: () =>
      withFilter(
        changingRows((row) =>
          Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
        ),
      ),
  },
]
