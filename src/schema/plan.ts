import type { PublishedCollection } from '../definition/published.ts'
import {
  creation,
  redeclaration,
  searchCreation,
  searchDrop,
  withoutRepeated,
  type Plan,
  type PlannedChange,
} from './changes.ts'
import { hasIndex, isEnforced } from './compare.ts'
import { fieldsOf, sharedTables, type Draft, type SharedTable } from './draft.ts'
import { addedKeys, droppedKeys, keysOn } from './foreign-key-plans.ts'
import { groupByTable, type Column, type ForeignKey } from './model.ts'
import { nullChanges } from './null-plans.ts'
import {
  changedColumn,
  changedTable,
  createdTable,
  withColumn,
  withIndex,
  type Effect,
} from './planned-tables.ts'
import {
  addedColumns,
  droppedColumns,
  filledColumns,
  renamedColumns,
  renamedTables,
  withoutAwaited,
} from './shared-plans.ts'
import { newKeys } from './missing-statements.ts'
import { createIndex, createTable, declaredType, namesIn } from './statements.ts'
import {
  declaredIndexes,
  indexesOfNew,
  sharedFields,
  uniqueIndex,
  type WantedIndex,
} from './wanted-indexes.ts'

/** The plans, each for the tables as the ones before it leave them. */
export const plans: readonly Plan[] = [
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

function createdTables(draft: Draft): readonly PlannedChange[] {
  const { tables, dialect } = draft
  const known = withoutAwaited(draft)
  const missing = known.filter(
    ({ table, hasColumnDefaults }) => tables.find(table) === undefined && !hasColumnDefaults,
  )
  return Array.from(groupByTable(missing, draft.identityOf).values()).flatMap((sharing) => {
    const [{ table }] = sharing as readonly [PublishedCollection]
    const statement = createTable(dialect, sharing, newKeys(tables, sharing, known))
    return [
      { ...creation(draft, table, { is: 'table', statement }), after: createdTable(sharing) },
      ...indexesOfNew(sharing).map((index) => indexCreation(draft, index)),
    ]
  })
}

function createdIndexes(draft: Draft): readonly PlannedChange[] {
  const created = sharedTables(draft).flatMap(({ table, sharing }) => {
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

function indexCreation(draft: Draft, index: WantedIndex): PlannedChange {
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

function leftConstraints(draft: Draft): readonly PlannedChange[] {
  const { quoted } = draft
  return sharedTables(draft).flatMap(({ name, table }) =>
    (table.leftConstraints ?? []).map((constraint) => ({
      kind: 'rebuild' as const,
      table: name,
      description: `Drops the constraint ${quoted(constraint)} of the table ${quoted(name)}, which an interrupted change has left.`,
      statements: [`ALTER TABLE ${quoted(table.name)} DROP CONSTRAINT ${quoted(constraint)};`],
      after: changedTable(name, () => ({ leftConstraints: [] })),
    })),
  )
}

function redeclaredColumns(draft: Draft): readonly PlannedChange[] {
  const { copies } = draft.dialect
  if (copies === undefined) return alteredColumns(draft)
  return sharedTables(draft).flatMap(({ name, table, sharing }) => {
    const redeclared = copies.redeclare(table, sharing)
    return redeclared === undefined ? [] : [redeclaration(draft, name, redeclared)]
  })
}

function alteredColumns(draft: Draft): readonly PlannedChange[] {
  const released = new Set<ForeignKey>()
  return sharedTables(draft).flatMap((shared) => {
    const { name, table, sharing } = shared
    const unfit = unfitColumns(draft, shared)
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
    const after: Effect = (all, names, dialect) =>
      effects.reduce((tables, effect) => effect(tables, names, dialect), all)
    return [{ ...redeclaration(draft, name, { columns, statements }), after }]
  })
}

/** Returns the columns that do not keep the values of their fields, with the statements that redeclare each. */
function unfitColumns(draft: Draft, shared: SharedTable) {
  const { dialect } = draft
  const { table, sharing } = shared
  return Array.from(sharedFields(sharing).values()).flatMap((field) => {
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
      ? dialect.changes?.redeclare(table, column, { field, declared })
      : undefined
    return statements === undefined ? [] : [{ field, column, statements }]
  })
}

/** Returns whether a column can be part of the indexes and foreign keys that its table lacks. */
function canIndex(
  { tables, dialect }: Draft,
  { table, sharing }: SharedTable,
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
  return parts.length === 0 || dialect.schema.canIndex?.(column, Math.max(...parts)) !== false
}

function isKept({ tables }: Draft, shared: SharedTable, column: Column): boolean {
  return fieldsOf(shared, column.name).every(
    (field) => tables.dialect.kept(column, field) !== undefined,
  )
}

function numberedColumns(draft: Draft): readonly PlannedChange[] {
  const { quoted, schema } = draft.dialect
  const { numberColumn } = schema
  if (numberColumn === undefined) return []
  return sharedTables(draft).flatMap((shared) => {
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
        statements: numberColumn(table, column),
        after: changedColumn(name, column.name, { numberedBy: 'the database', hasDefault: true }),
      }))
  })
}

function searchIndexes(draft: Draft): readonly PlannedChange[] {
  const { tables } = draft
  const { search } = tables.dialect.schema
  if (search === undefined) return []
  return sharedTables(draft).flatMap(({ name, sharing }): readonly PlannedChange[] => {
    const statements = search.missing(tables, sharing)
    const drop = search.drop(tables, name)
    if (statements.length > 0) {
      const searchIndexes = search.names?.(tables, sharing) ?? []
      const change = { isLeft: drop.length > 0, statements }
      const after = changedTable(name, () => ({ searchIndexes }))
      return [{ ...searchCreation(draft, name, change), after }]
    }
    const isWanted = sharing.some(({ hasSearchIndex }) => hasSearchIndex)
    if (isWanted || drop.length === 0) return []
    const after = changedTable(name, () => ({ searchIndexes: [] }))
    return [{ ...searchDrop(draft, name, drop), after }]
  })
}
