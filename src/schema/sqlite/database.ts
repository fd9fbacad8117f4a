import type { PublishedCollection } from '../../definition/published.ts'
import { createSearch } from '../../storage/sqlite/search/index-statements.ts'
import {
  computedColumn,
  keyCheck,
  missingColumn,
  noDefault,
  notNumbered,
  ofEachField,
  searchIndex,
  unfitColumn,
  uniqueGroups,
  type FieldCheck,
} from '../compare.ts'
import type { TableCheck, TableDialect } from '../database.ts'
import { folded, groupByTable } from '../model.ts'
import { searchOf, sqliteSearches } from './search-index.ts'
import { columnDefinition, createTables, otherCheck, sqliteText } from './statements.ts'

/** Finds a column whose CHECK is that of another definition. */
const otherDefinition: FieldCheck = ({ table }, field, column) => {
  const other = otherCheck(table.statement ?? '', field)
  if (column === undefined || other === undefined) return undefined
  const reason = `has a CHECK for another definition of the field, with ${other}. Rebuild the table with\n${columnDefinition(field)}`
  return { is: 'unusable', field, column, reason }
}

const otherColumns = ofEachField(missingColumn, unfitColumn, computedColumn, otherDefinition)

/** Finds the columns that do not keep the values of their fields. Most tables have all columns as new ones have them. */
const columns: TableCheck = (compared) => {
  const { tables, table, collection } = compared
  const written = tables.written?.(collection)
  const isAsNew = collection.fields.every(
    (field) => written?.has(field) === true && table.find(field.column) !== undefined,
  )
  return isAsNew ? [] : otherColumns(compared)
}

/** How SQLite keeps tables, with what the start of a service checks. */
export const sqliteTables: TableDialect = {
  ...sqliteText,
  schema: {
    ...sqliteText.schema,
    search: sqliteSearches,
    checks: [
      columns,
      ofEachField(noDefault),
      keyCheck(ofEachField(notNumbered)),
      uniqueGroups,
      searchIndex,
    ],
  },
}

/** Returns the statements that create the tables of collections, each with its indexes, and the search indexes. */
export function createSchema(collections: readonly PublishedCollection[]): readonly string[] {
  const searches = [...groupByTable(collections, folded).values()].flatMap((sharing) => {
    const wanted = searchOf(sharing)
    return wanted === undefined ? [] : createSearch(wanted)
  })
  return [...createTables(collections), ...searches]
}
