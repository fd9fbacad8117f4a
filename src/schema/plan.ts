import type { PublishedCollection } from '../definition/published.ts'
import { addedKeys, droppedKeys, keysOn } from './foreign-key-plans.ts'
import {
  changedColumn,
  changedTable,
  createdTable,
  withColumn,
  withIndex,
  type Effect,
} from './planned-tables.ts'
import {
  creation,
  redeclaration,
  searchCreation,
  searchDrop,
  sharedTables,
  type Plan,
  type PlannedChange,
  type SharedTable,
} from './changes.ts'
import { fieldsOf, withoutRepeated, type TablesDraft } from './draft.ts'
import {
  addedColumns,
  droppedColumns,
  filledColumns,
  renamedColumns,
  renamedTables,
  requiredColumns,
  withoutAwaited,
} from './shared-plans.ts'
import { mayBeNull } from './required-columns.ts'
import { createIndex, createTable, declaredType, hasIndex, namesIn } from './statements.ts'
import { dropSearch, missingSearches, wantedSearches } from './search-index.ts'
import { isEnforced } from './table-check.ts'
import { keptType } from '../storage/sql/table-conditions.ts'
import { groupByTable, type Column, type ForeignKey, type Table } from './model.ts'
import {
  declaredIndexes,
  indexesOfNew,
  sharedFields,
  uniqueIndex,
  type WantedIndex,
} from './wanted-indexes.ts'

/** The plans for databases behind a pool. */
export const plans: readonly Plan<TablesDraft>[] = [
  renamedTables,
  createdTables,
  renamedColumns,
  addedColumns,
  leftConstraints,
  droppedKeys,
  redeclaredColumns,
  filledColumns,
  nullChanges,
  numberedColumns,
  searchIndexes,
  droppedColumns,
  createdIndexes,
  addedKeys,
]

function createdTables(draft: TablesDraft): readonly PlannedChange[] {
  const { tables } = draft
  const missing = withoutAwaited(draft).filter(
    ({ table, hasColumnDefaults }) => tables.find(table) === undefined && !hasColumnDefaults,
  )
  return Array.from(groupByTable(missing, draft.identityOf).values()).flatMap((sharing) => {
    const [{ table }] = sharing as readonly [PublishedCollection]
    const statement = createTable(tables.dialect, sharing)
    return [
      { ...creation(draft, table, { is: 'table', statement }), after: createdTable(sharing) },
      ...indexesOfNew(sharing).map((index) => indexCreation(draft, index)),
    ]
  })
}

function createdIndexes(draft: TablesDraft): readonly PlannedChange[] {
  const created = sharedTables<Table>(draft).flatMap(({ table, sharing }) => {
    return sharing
      .flatMap(wantedIndexes)
      .filter((index) => !hasIndex(table, index))
      .filter(({ fields }) => fields.every(({ field }) => table.find(field.column) !== undefined))
      .map((index) => indexCreation(draft, index))
  })
  return withoutRepeated(created)
}

function wantedIndexes(collection: PublishedCollection): readonly WantedIndex[] {
  const { key } = collection
  const own = key.length === 0 ? [] : [uniqueIndex(collection, key)]
  return [...own, ...declaredIndexes(collection)]
}

function indexCreation(draft: TablesDraft, index: WantedIndex): PlannedChange {
  const { tables, collections } = draft
  const names = namesIn(tables, collections)
  const { table, unique, fields } = index
  const statement = createIndex(tables.dialect, index, names)
  const columns = fields.map(({ field, descending }) => ({
    name: names.column(table, field.column),
    descending,
  }))
  return {
    ...creation(draft, table, { is: unique ? 'unique index' : 'index', statement }),
    after: withIndex(table, { unique, columns }),
  }
}

function leftConstraints(draft: TablesDraft): readonly PlannedChange[] {
  const { quoted } = draft
  return sharedTables<Table>(draft).flatMap(({ name, table }) =>
    (table.leftConstraints ?? []).map((constraint) => ({
      kind: 'rebuild' as const,
      table: name,
      description: `Drops the constraint ${quoted(constraint)} of the table ${quoted(name)}, which an interrupted change has left.`,
      statements: [`ALTER TABLE ${quoted(table.name)} DROP CONSTRAINT ${quoted(constraint)};`],
      after: changedTable(name, () => ({ leftConstraints: [] })),
    })),
  )
}

function redeclaredColumns(draft: TablesDraft): readonly PlannedChange[] {
  const { dialect } = draft
  const released = new Set<ForeignKey>()
  return sharedTables<Table>(draft).flatMap((shared) => {
    const { name, table, sharing } = shared
    const unfit = Array.from(sharedFields(sharing).values()).flatMap((field) => {
      const column = table.find(field.column)
      if (column === undefined) return []
      if (isKept(draft, shared, column) && canIndex(draft, shared, column)) return []
      // Its default and the numbers of a sequence would have to be converted too.
      if (column.hasDefault || column.isComputed) return []
      const declared = declaredType(dialect, sharing, field, table)
      const isWanted = fieldsOf(shared, column.name).every(
        (other) => declaredType(dialect, sharing, other, table) === declared,
      )
      const statements = isWanted
        ? dialect.changes.redeclare(table, column, { field, declared })
        : undefined
      return statements === undefined ? [] : [{ field, column, statements }]
    })
    if (unfit.length === 0) return []
    const columns = unfit.map(({ column }) => column.name)
    const dropped = keysOn(draft, table, columns).filter(({ key }) => !released.has(key))
    for (const { key } of dropped) released.add(key)
    const statements = [
      ...dropped.map(({ statement }) => statement),
      ...unfit.flatMap((each) => each.statements),
    ]
    const effects = [
      ...dropped.map(({ after }) => after),
      ...unfit.map(({ field }) => withColumn(name, sharing, field)),
    ]
    const after: Effect = (all, names) =>
      effects.reduce((tables, effect) => effect(tables, names, dialect), all)
    return [{ ...redeclaration(draft, name, { columns, statements }), after }]
  })
}

/** Returns whether a column can be part of the indexes and foreign keys that its table lacks. */
function canIndex(
  { tables, dialect }: TablesDraft,
  { table, sharing }: SharedTable<Table>,
  column: Column,
): boolean {
  const missing = sharing
    .flatMap(wantedIndexes)
    .filter((index) => !hasIndex(table, index))
    .map(({ fields }) => fields.map(({ field }) => field))
  const unenforced = sharing
    .flatMap(({ references }) => references)
    .filter(
      (one) => dialect.schema.isForeignKey(one, tables.identityOf) && !isEnforced(one, tables),
    )
    .map(({ fields }) => fields)
  const parts = [...missing, ...unenforced]
    .filter((fields) => fields.some((field) => table.find(field.column) === column))
    .map(({ length }) => length)
  return parts.length === 0 || dialect.changes.canIndex?.(column, Math.max(...parts)) !== false
}

function isKept({ tables }: TablesDraft, shared: SharedTable<Table>, column: Column): boolean {
  return fieldsOf(shared, column.name).every(
    (field) => keptType(tables.dialect, column, field) !== undefined,
  )
}

function nullChanges(draft: TablesDraft): readonly PlannedChange[] {
  const { quoted, schema, changes } = draft.dialect
  return sharedTables<Table>(draft).flatMap((shared) => {
    const { name, table, sharing } = shared
    const allowsNull = (own: string): boolean => {
      const { notNull = true, isComputed = true, isDomain = false } = table.find(own) ?? {}
      return !notNull && !isComputed && !isDomain
    }
    const required = requiredColumns(draft, shared, allowsNull).map(({ column }) => column)
    return table.columns.flatMap((column): readonly PlannedChange[] => {
      const fields = fieldsOf(shared, column.name)
      const of = `the column ${quoted(column.name)} of the table ${quoted(name)}`
      if (!column.notNull && !column.isComputed && fields.some(({ inKey }) => inKey)) {
        return [
          {
            kind: 'add',
            table: name,
            description: `Rejects null in ${of}, which is part of the key.`,
            statements: [schema.rejectNull(table, column)],
            after: changedColumn(name, column.name, { notNull: true }),
          },
        ]
      }
      if (required.includes(column.name)) {
        return [
          {
            kind: 'require',
            table: name,
            description: `Rejects null in ${of}, which the definition requires.`,
            statements: [schema.rejectNull(table, column)],
            after: changedColumn(name, column.name, { notNull: true }),
          },
        ]
      }
      if (!rejectsNull(table, column) || !mayBeNull(sharing, fields)) return []
      return [
        {
          kind: 'rebuild',
          table: name,
          description: `Allows null in ${of}, which the definition does not require.`,
          statements: [changes.allowNull(table, column)],
          after: changedColumn(name, column.name, { notNull: false }),
        },
      ]
    })
  })
}

/** Returns whether a column rejects null, other than in a primary key, and nothing else gives it a value. */
function rejectsNull({ primary }: Table, { name, ...column }: Column): boolean {
  const { notNull, hasDefault, isComputed, isDomain = false } = column
  return notNull && !hasDefault && !isComputed && !isDomain && primary?.includes(name) !== true
}

function numberedColumns(draft: TablesDraft): readonly PlannedChange[] {
  const { quoted, schema } = draft.dialect
  return sharedTables<Table>(draft).flatMap((shared) => {
    const { name, table } = shared
    return table.columns
      .filter(({ numberedBy, hasDefault }) => numberedBy === undefined && !hasDefault)
      .filter((column) =>
        fieldsOf(shared, column.name).some(({ generated }) => generated === 'database'),
      )
      .filter((column) => isKept(draft, shared, column))
      .map((column) => ({
        kind: 'add' as const,
        table: name,
        description: `Numbers the column ${quoted(column.name)} of the table ${quoted(name)}.`,
        statements: schema.numberColumn(table, column),
        after: changedColumn(name, column.name, { numberedBy: 'the database', hasDefault: true }),
      }))
  })
}

function searchIndexes(draft: TablesDraft): readonly PlannedChange[] {
  const { tables } = draft
  const { dialect } = tables
  if (dialect.searchIndex === undefined) return []
  return sharedTables<Table>(draft).flatMap(
    ({ name, table, sharing }): readonly PlannedChange[] => {
      const present = table.searchIndexes ?? []
      const missing = missingSearches(tables, sharing)
      if (missing.length > 0) {
        const searched = wantedSearches(tables, sharing).map((wanted) => wanted.name)
        const after = changedTable(name, () => ({ searchIndexes: searched }))
        const isLeft = present.length > 0
        return [{ ...searchCreation(draft, name, { isLeft, statements: missing }), after }]
      }
      const isWanted = sharing.some(({ hasSearchIndex }) => hasSearchIndex)
      if (isWanted || present.length === 0) return []
      const after = changedTable(name, () => ({ searchIndexes: [] }))
      const statements = present.map((index) => dropSearch(tables, name, index))
      return [{ ...searchDrop(draft, name, statements), after }]
    },
  )
}
