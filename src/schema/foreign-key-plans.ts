import type { PublishedField } from '../definition/published-field.ts'
import type { Reference } from '../definition/published.ts'
import { withFormerTables, withoutRepeated, type PlannedChange } from './changes.ts'
import { hasIndex, isEnforced } from './compare.ts'
import type { FoundTables } from './database.ts'
import { fieldsOf, sharedTables, type Draft } from './draft.ts'
import { changedTable, isPlanned, type Effect } from './planned-tables.ts'
import { addForeignKey, namesIn } from './statements.ts'
import type { Column, ForeignKey, Table } from './model.ts'
import { uniqueIndex } from './wanted-indexes.ts'

/** Returns whether foreign keys are changed. In SQLite, they are constraints of a new table. */
function canChangeKeys({ dialect }: Draft): boolean {
  return dialect.changes !== undefined
}

/** Plans to drop foreign keys between collections that could be references, but are not declared. */
export function droppedKeys(draft: Draft): readonly PlannedChange[] {
  if (!canChangeKeys(draft)) return []
  const { quoted, collections, tables } = draft
  const references = collections.flatMap((collection) => collection.references)
  return sharedTables(draft).flatMap((shared) => {
    const { name, table: own } = shared
    return own.foreignKeys
      .filter(({ columns }) => isManaged(draft, own, columns))
      .filter((key) => key.columns.every((column) => fieldsOf(shared, column).length > 0))
      .filter(({ target, targetColumns }) =>
        collections.some(({ table, key }) => {
          const found = tables.find(table)
          const names = key.map(({ column }) => found?.find(column)?.name ?? '')
          return found?.id === target && sameNames(names, targetColumns)
        }),
      )
      .filter((key) => !references.some((reference) => isOf(tables, reference, { own, key })))
      .map((key) => {
        const { statement, after } = dropKey(draft, own, key)
        const columns = key.columns.map(quoted).join(', ')
        const description = `Drops the foreign key (${columns}) of the table ${quoted(name)}, which the definition does not declare.`
        return { kind: 'drop' as const, table: name, description, statements: [statement], after }
      })
  })
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name))
}

/** Returns whether no collection of a table leaves the foreign keys of columns to the database. */
function isManaged(
  { collections, tables }: Draft,
  own: Table,
  columns: readonly string[],
): boolean {
  return collections
    .filter(({ table }) => tables.find(table) === own)
    .flatMap(({ definition }) => definition.unmanaged?.foreignKeys ?? [])
    .map((group) => group.map((column) => own.find(column)?.name ?? column))
    .every((group) => !sameNames(group, columns))
}

/** Plans to add the foreign keys of references. */
export function addedKeys(draft: Draft): readonly PlannedChange[] {
  if (!canChangeKeys(draft)) return []
  const { tables, collections, quoted } = draft
  const names = namesIn(tables, collections)
  const changes = collections
    .flatMap(({ references }) => references)
    .flatMap((reference): readonly PlannedChange[] => {
      const { from, fields, to, onDelete } = reference
      const [own, target] = [tables.find(from.table), tables.find(to.table)]
      if (own === undefined || target === undefined) return []
      if (!canRefer(draft, reference) || isEnforced(reference, tables)) return []
      const ownColumns = fields.map(({ column }) => own.find(column)?.name ?? column)
      if (!isPlanned(own) && !isManaged(draft, own, ownColumns)) return []
      const former = own.foreignKeys.filter((key) => isOf(tables, reference, { own, key }))
      const drops = former.map((key) => dropKey(draft, own, key))
      const columns = fields.map(({ column }) => quoted(names.column(from.table, column)))
      const of = `foreign key (${columns.join(', ')}) of the table ${quoted(from.table)}`
      const key: ForeignKey = {
        name: '',
        columns: ownColumns,
        target: target.id,
        targetColumns: to.key.map(({ column }) => target.find(column)?.name ?? column),
        onDelete,
      }
      return [
        {
          kind: former.length === 0 ? 'add' : 'rebuild',
          table: from.table,
          description:
            former.length === 0 ? `Adds the ${of}.` : `Redeclares the ${of}, with another effect.`,
          statements: [
            ...drops.map(({ statement }) => statement),
            addForeignKey(tables.dialect, reference, names),
          ],
          after: changedTable(from.table, ({ foreignKeys: keys }) => ({
            foreignKeys: [...keys.filter((each) => !former.includes(each)), key],
          })),
        },
      ]
    })
  return withoutRepeated(changes)
}

/** A foreign key that is dropped, because a later change adds it again. */
interface DroppedKey {
  readonly key: ForeignKey
  readonly statement: string
  readonly after: Effect
}

/** Returns how the foreign keys of and to columns are dropped. Those that a reference declares are added again. */
export function keysOn(
  draft: Draft,
  table: Table,
  columns: readonly string[],
): readonly DroppedKey[] {
  const { tables, collections } = draft
  const known = withFormerTables(collections)
  const all = new Set(known.flatMap(({ table: name }) => tables.find(name) ?? []))
  const references = collections.flatMap((collection) => collection.references)
  return [...all].flatMap((own) =>
    own.foreignKeys
      .filter(({ target, columns: from, targetColumns: to }) => {
        const isOwn = own === table && from.some((name) => columns.includes(name))
        return isOwn || (target === table.id && to.some((name) => columns.includes(name)))
      })
      .filter((key) => references.some((reference) => isOf(tables, reference, { own, key })))
      .filter((key) => isManaged(draft, own, key.columns))
      .map((key) => dropKey(draft, own, key)),
  )
}

function dropKey({ dialect }: Draft, table: Table, key: ForeignKey): DroppedKey {
  return {
    key,
    statement: dialect.changes?.dropForeignKey(table, key.name) ?? '',
    after: changedTable(table.name, ({ foreignKeys: keys }) => ({
      foreignKeys: keys.filter((each) => each.name !== key.name),
    })),
  }
}

/** Returns whether a foreign key has the columns of a reference. */
function isOf(
  tables: FoundTables,
  { from, fields, to }: Reference,
  { own, key }: { readonly own: Table; readonly key: ForeignKey },
): boolean {
  const target = tables.find(to.table)
  if (tables.find(from.table) !== own || target?.id !== key.target) return false
  if (fields.length !== key.columns.length) return false
  return fields.every((field, index) => {
    const at = key.columns.indexOf(own.find(field.column)?.name ?? '')
    return at >= 0 && key.targetColumns[at] === target.find(to.key[index]?.column ?? '')?.name
  })
}

/** Returns whether a table can have the foreign key of a reference. */
function canRefer({ dialect, tables, collections }: Draft, reference: Reference): boolean {
  const { from, fields, to } = reference
  if (!collections.includes(to) || !dialect.schema.isForeignKey(reference, tables.identityOf))
    return false
  const [own, target] = [tables.find(from.table), tables.find(to.table)]
  if (own?.kind !== 'table' || target?.kind !== 'table') return false
  if (!hasIndex(target, uniqueIndex(to, to.key))) return false
  const areUsual = (table: Table, columns: readonly PublishedField[]): boolean =>
    columns.every((field) => {
      const column = table.find(field.column)
      if (column?.isDeterministic !== true) return false
      return dialect.kept(column, field) === dialect.columnTypes[field.type]
    })
  if (!areUsual(own, fields) || !areUsual(target, to.key)) return false
  return fields.every((field, index) => {
    const column = own.find(field.column) as Column
    const key = target.find(to.key[index]?.column ?? '') as Column
    return dialect.changes?.canRefer?.(column, key, reference.onDelete) !== false
  })
}
