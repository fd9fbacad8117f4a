import type { RelatedOperatorName } from '../definition/operators.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { StorageAdvice } from '../observation/reports.ts'
import type { UnindexedConditions } from '../storage/problem.ts'
import type { FoundTables } from './database.ts'
import { folded, type Table } from './model.ts'
import { createIndex } from './statements.ts'
import { ascending } from './wanted-indexes.ts'

/** The number of rows from which conditions without an index are reported: fewer are read in a few milliseconds. */
export const minScannedRows = 10_000

/**
 * What serves the ranges of a field: the index that serves its equality, an index that exists, or one that these
 * statements create. No statements: none serves them.
 */
export type RangeIndex = 'equality' | 'present' | readonly string[]

type Need = 'equality' | 'range' | 'no index'

// What excludes values finds most rows, so that a page is full soon.
const needs: Readonly<Partial<Record<RelatedOperatorName, Need>>> = {
  eq: 'equality',
  in: 'equality',
  isNull: 'equality',
  lt: 'range',
  lte: 'range',
  gt: 'range',
  gte: 'range',
  startsWith: 'range',
  contains: 'no index',
}

/** A condition that requests may have. */
interface Offered {
  readonly fields: readonly PublishedField[]
  readonly need: Need
  readonly name: string
}

/**
 * Returns the conditions of a collection that read its whole table, however many rows it has. They are those that its
 * definition chooses: operators, required filters, its row rule, and references, by which related items are read and
 * deletes find the items that refer to one.
 */
export function unindexedConditions(
  { dialect, find }: FoundTables,
  collection: PublishedCollection,
  rangeIndex: (table: Table, field: PublishedField) => RangeIndex,
): readonly UnindexedConditions[] {
  const found = find(collection.table)
  if (found?.kind !== 'table' || collection.definition.serve !== undefined) return []
  const groups = new Map<string, Offered[]>()
  for (const one of offered(collection)) {
    const key = one.fields.map(({ name }) => name).join()
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()].flatMap((group) => {
    const fields = group[0]?.fields ?? []
    const columns = fields.flatMap((field) => found.find(field.column) ?? [])
    // The table does not fit, which is reported.
    if (columns.length < fields.length) return []
    const fits = columns.every(
      (column) => dialect.schema.canIndex?.(column, fields.length) !== false,
    )
    const table = collection.table
    const own = hasLeading(found, fields)
      ? undefined
      : fits
        ? [createIndex(dialect, { table, unique: false, fields: ascending(fields) })]
        : [dialect.schema.prefixIndex?.(table, columns)].flatMap((one) => one ?? [])
    const lacking = new Map<string, { names: string[]; statements: readonly string[] }>()
    for (const { need, name } of group) {
      const statements = statementsFor(need, own, () =>
        rangeIndex(found, fields[0] as PublishedField),
      )
      if (statements === undefined) continue
      const kind = statements.length === 0 ? 'none' : 'some'
      const { names = [], statements: others = [] } = lacking.get(kind) ?? {}
      lacking.set(kind, {
        names: [...names, name],
        statements: [...new Set([...others, ...statements])],
      })
    }
    return Array.from(lacking.values(), ({ names, statements }) => ({
      ...{ collection, fields, statements },
      conditions: [...new Set(names)],
    }))
  })
}

/** Returns the statements of the index that a condition lacks; undefined if it has one. */
function statementsFor(
  need: Need,
  ofEquality: readonly string[] | undefined,
  rangeIndex: () => RangeIndex,
): readonly string[] | undefined {
  if (need === 'no index') return []
  const range = need === 'range' ? rangeIndex() : 'equality'
  if (range === 'equality') return ofEquality
  return range === 'present' ? undefined : range
}

function offered(collection: PublishedCollection): readonly Offered[] {
  const { operators, requiredFilters, references, siblings, byName, rows } = collection
  const named = (name: string): readonly PublishedField[] =>
    [byName.get(name)].flatMap((one) => one ?? [])
  const own = Array.from(operators, ([name, { field, operator }]) => ({
    ...{ fields: [field], name },
    need: needs[operator],
  }))
  const related = (relatedIn(siblings).get(collection.name) ?? []).map(
    ({ field, name, operator }) => ({ fields: named(field), name, need: needs[operator] }),
  )
  const rule = typeof rows === 'object' ? Object.keys(rows.equal ?? {}) : []
  const always = [
    ...requiredFilters.map((name) => ({ fields: named(name), name })),
    ...rule.map((name) => ({ fields: named(name), name: 'the row rule' })),
    ...references.map(({ fields, to }) => ({ fields, name: `the reference to ${to.name}` })),
  ].map((one) => ({ ...one, need: 'equality' as const }))
  return [...always, ...own, ...related].flatMap(({ fields, name, need }) =>
    need === undefined || fields.length === 0 ? [] : [{ fields, name, need }],
  )
}

/** A condition on a field of a related collection. */
interface RelatedOffer {
  readonly field: string
  readonly name: string
  readonly operator: RelatedOperatorName
}

type Siblings = PublishedCollection['siblings']

// All collections of an application have the same map: with thousands of them, each must not look at all others.
const relatedBySiblings = new WeakMap<Siblings, ReadonlyMap<string, readonly RelatedOffer[]>>()

/** Returns the conditions on fields of related collections, by the name of that collection. */
function relatedIn(siblings: Siblings): ReadonlyMap<string, readonly RelatedOffer[]> {
  const known = relatedBySiblings.get(siblings)
  if (known !== undefined) return known
  const byTarget = new Map<string, RelatedOffer[]>()
  for (const sibling of siblings.values()) {
    for (const [name, { collection: to, name: field, operator }] of sibling.related) {
      const offers = byTarget.get(to) ?? []
      if (offers.length === 0) byTarget.set(to, offers)
      offers.push({ field, name: `${name} of ${sibling.name}`, operator })
    }
  }
  relatedBySiblings.set(siblings, byTarget)
  return byTarget
}

/** Returns whether an index, or the primary key, begins with the columns of fields, in any order. */
function hasLeading({ primary = [], indexes }: Table, fields: readonly PublishedField[]): boolean {
  const wanted = new Set(fields.map(({ column }) => folded(column)))
  const all = [
    primary,
    ...indexes.map(({ columns }) => columns.map((one) => one.name ?? one.prefixOf ?? '')),
  ]
  return all.some(
    (columns) =>
      columns.length >= wanted.size &&
      columns.slice(0, wanted.size).every((column) => wanted.has(folded(column))),
  )
}

/** Returns conditions as the service reports them. */
export function conditionAdvice({
  collection: { application, name },
  fields,
  conditions,
  statements,
}: UnindexedConditions): StorageAdvice {
  return {
    type: 'condition-without-index',
    application,
    collection: name,
    fields: fields.map((field) => field.name),
    conditions,
    statements,
  }
}
