import {
  withFilter,
  asking,
  answering,
  everyRow,
  withLenience,
  withOrder,
  mapped,
  type BrokenAdapter,
} from './broken-memory.ts'
import { memoryStorage } from '../../src/storage/memory.ts'

/** Defects of queries. */
export const brokenReads: readonly BrokenAdapter[] = [
  {
    defect: 'tells the same version for ever',
    caught: /a version/,
    create: () => ({ ...memoryStorage(), version: () => 1 }),
  },
  {
    defect: 'tells another version each time',
    caught: /a version/,
    create: () => {
      let version = 0
      return { ...memoryStorage(), version: () => ++version }
    },
  },
  {
    defect: 'compares without case',
    caught: /tells apart: letter case/,
    create: () => withLenience('case'),
  },
  {
    defect: 'compares without trailing spaces',
    caught: /trailing/,
    create: () => withLenience('spaces'),
  },
  {
    defect: 'compares normal forms alike',
    caught: /normal forms/,
    create: () => withLenience('normal forms'),
  },
  {
    defect: 'compares texts as numbers',
    caught: /look like numbers/,
    create: () => withLenience('numbers'),
  },
  {
    defect: 'takes the empty text for null',
    caught: /equal to null/,
    create: () => withLenience('empty is null'),
  },
  {
    defect: 'takes only null for empty',
    caught: /condition `empty`/,
    create: () => withLenience('null is empty'),
  },
  {
    defect: 'needs any condition instead of all',
    caught: /all conditions/,
    create: () => withLenience('any'),
  },
  {
    defect: 'searches with wildcards',
    caught: /search for "%"/,
    create: () => withLenience('wildcards'),
  },
  {
    defect: 'searches by letter case',
    caught: /search for "berl"/,
    create: () => withLenience('exact search'),
  },
  {
    defect: 'searches without accents',
    caught: /search for "é"/,
    create: () => withLenience('no accents'),
  },
  {
    defect: 'searches all fields',
    caught: /named fields only/,
    create: () => withLenience('all fields'),
  },
  { defect: 'sorts null last', caught: /null first/, create: () => withOrder('null last') },
  { defect: 'sorts by locale', caught: /texts by code point/, create: () => withOrder('locale') },
  { defect: 'sorts by UTF-16 unit', caught: /UTF-16/, create: () => withOrder('UTF-16') },
  {
    defect: 'sorts bigints as texts',
    caught: /64-bit integers by value/,
    create: () => withOrder('texts'),
  },
  {
    defect: 'sorts decimals as doubles',
    caught: /decimals by value/,
    create: () => withOrder('doubles'),
  },
  {
    defect: 'sorts by the first field only',
    caught: /ties are ended/,
    create: () => withOrder('first field'),
  },
  {
    defect: 'counts the page',
    caught: /the count ignores limit/,
    create: () =>
      withFilter((filter) => async (collection, query) => {
        const page = await filter(collection, query)
        return { ...page, count: page.count === null ? null : page.rows.length }
      }),
  },
  {
    defect: 'counts all rows',
    caught: /the count follows/,
    create: () =>
      withFilter((filter) => async (collection, query) => {
        const page = await filter(collection, query)
        const all = await filter(collection, { ...query, ...everyRow })
        return { ...page, count: page.count === null ? null : all.rows.length }
      }),
  },
  {
    defect: 'counts unasked',
    caught: /null when the query does not ask/,
    create: () => withFilter(asking((query) => ({ ...query, count: true }))),
  },
  {
    defect: 'takes limit 0 for no limit',
    caught: /limit 0/,
    create: () => withFilter(asking((query) => ({ ...query, limit: query.limit || 1000 }))),
  },
  {
    defect: 'forgets the offset',
    caught: /offset/,
    create: () => withFilter(asking((query) => ({ ...query, offset: 0 }))),
  },
  {
    defect: 'returns decimals without their zeros',
    caught: /decimals with their zeros/,
    create: () =>
      withFilter(
        answering((row, { byName }) =>
          mapped(row, (value, name) =>
            value !== null && byName.get(name)?.type === 'decimal' ? String(Number(value)) : value,
          ),
        ),
      ),
  },
  {
    defect: 'returns booleans as numbers',
    caught: /keeps booleans/,
    create: () =>
      withFilter(
        answering((row) =>
          mapped(row, (value) => (typeof value === 'boolean' ? Number(value) : value)),
        ),
      ),
  },
  {
    defect: 'leaves fields without value out',
    caught: /null in every field/,
    create: () =>
      withFilter(
        answering((row) =>
          Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
        ),
      ),
  },
]
