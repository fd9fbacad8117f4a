import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { AlteringDialect } from './database.ts'
import { isNotNull } from './required-columns.ts'
import { declaredType } from './statements.ts'
import {
  finder,
  hasColumn,
  type Column,
  type Index,
  type IndexColumn,
  type Table,
  type TableNames,
} from './model.ts'
import { sharedFields } from './wanted-indexes.ts'

/** Returns tables as a change leaves them. */
export type Effect = (
  tables: readonly Table[],
  names: TableNames,
  dialect: AlteringDialect,
) => readonly Table[]

/** Returns the effect of a change of one table. */
export function changedTable(
  name: string,
  change: (table: Table, dialect: AlteringDialect) => Partial<Table>,
): Effect {
  return (tables, names, dialect) => {
    const former = names(tables).find(name)
    return tables.map((each) => (each === former ? { ...each, ...change(each, dialect) } : each))
  }
}

/** Returns the effect of a new table of collections. Its indexes and foreign keys are changes of their own. */
export function createdTable(sharing: readonly PublishedCollection[]): Effect {
  const [{ table: name }] = sharing as readonly [PublishedCollection]
  const keyed = sharing.find(({ key }) => key.length > 0)
  const primary = keyed?.key.map(({ column }) => column)
  return (tables, _names, dialect) => {
    const fields = [...sharedFields(sharing).values()]
    const columns = fields.map((field) => {
      const column = newColumn(dialect, sharing, field)
      return { ...column, notNull: column.notNull || isNotNull(sharing, field) }
    })
    const index = primary && { unique: true, columns: primary.map(ascending) }
    const table: Table = {
      id: `${plannedId}${name}`,
      schema: '',
      name,
      kind: 'table',
      ...withColumns(columns),
      primary,
      indexes: index === undefined ? [] : [index],
      foreignKeys: [],
      constraints: new Map(),
    }
    return [...tables, table]
  }
}

const plannedId = 'planned '

/** Returns whether a table does not exist yet. */
export function isPlanned({ id }: Table): boolean {
  return id.startsWith(plannedId)
}

/** Returns the effect of a new column, or of one that is redeclared. */
export function withColumn(
  name: string,
  sharing: readonly PublishedCollection[],
  field: PublishedField,
): Effect {
  return changedTable(name, (table, dialect) => {
    const { columns, find } = table
    const declared = newColumn(dialect, sharing, field, table)
    const former = find(field.column)
    if (former === undefined) return withColumns([...columns, declared])
    const { name: own, notNull, ending } = former
    const column = { ...declared, name: own, notNull, ending }
    return withColumns(columns.map((each) => (each === former ? column : each)))
  })
}

/** Returns the effect of changed facts of a column. */
export function changedColumn(name: string, column: string, facts: Partial<Column>): Effect {
  return changedTable(name, ({ columns }) =>
    withColumns(columns.map((each) => (each.name === column ? { ...each, ...facts } : each))),
  )
}

/** Returns the effect of a new name of a column. */
export function renamedColumn(name: string, from: string, to: string): Effect {
  const renamed = (column: string): string => (column === from ? to : column)
  return (tables, names, { quoted }) => {
    const own = names(tables).find(name)
    return tables.map((table) => {
      const foreignKeys = table.foreignKeys.map((key) => ({
        ...key,
        columns: table === own ? key.columns.map(renamed) : key.columns,
        targetColumns: key.target === own?.id ? key.targetColumns.map(renamed) : key.targetColumns,
      }))
      if (table !== own) return { ...table, foreignKeys }
      return {
        ...table,
        foreignKeys,
        ...withColumns(
          table.columns.map((each) => ({
            ...each,
            name: renamed(each.name),
            ending: each.ending?.replaceAll(quoted(from), quoted(to)),
          })),
        ),
        primary: table.primary?.map(renamed),
        indexes: table.indexes.map((index) => ({
          ...index,
          columns: index.columns.map(({ name: own, prefixOf, descending }) => ({
            name: own && renamed(own),
            prefixOf: prefixOf && renamed(prefixOf),
            descending,
          })),
        })),
      }
    })
  }
}

/** Returns the effect of a dropped column. Its indexes and foreign keys are dropped with it. */
export function withoutColumn(name: string, column: string): Effect {
  return changedTable(name, (table) => tableWithout(table, column))
}

/** Returns what is left of a table without a column. */
export function tableWithout(
  { columns, indexes, foreignKeys, primary }: Table,
  column: string,
): Partial<Table> {
  return {
    ...withColumns(columns.filter((each) => each.name !== column)),
    primary: primary?.includes(column) === true ? undefined : primary,
    indexes: indexes.filter((index) => !hasColumn(index, column)),
    foreignKeys: foreignKeys.filter((key) => !key.columns.includes(column)),
  }
}

/** Returns the effect of a new index. */
export function withIndex(name: string, index: Index): Effect {
  return changedTable(name, ({ indexes }) => ({ indexes: [...indexes, index] }))
}

function withColumns(columns: readonly Column[]): Pick<Table, 'columns' | 'find'> {
  return { columns, find: finder(columns) }
}

function ascending(name: string): IndexColumn {
  return { name, descending: false }
}

function newColumn(
  dialect: AlteringDialect,
  sharing: readonly PublishedCollection[],
  field: PublishedField,
  table?: Table,
): Column {
  const { column, generated, inKey } = field
  const declared = declaredType(dialect, sharing, field, table)
  const isNumbered = generated === 'database'
  return {
    name: column,
    declared,
    ...dialect.changes.described(declared),
    notNull: inKey || isNumbered,
    hasDefault: isNumbered,
    isComputed: false,
    numberedBy: isNumbered ? 'the database' : undefined,
  }
}
