import type { PublishedField } from '../../../definition/published-field.ts'
import type { StoredValue } from '../../../definition/field-type.ts'
import { isServerForm } from '../../../definition/stored-forms.ts'
import { columnTypes, type ColumnType } from '../../../schema/sqlite/column-types.ts'
import type { SqliteValue } from '../connection/connection.ts'
import { otherForm } from '../forms/other-forms.ts'

/** The members of a field that determine its column. */
export type ColumnField = Pick<PublishedField, 'type' | 'storedAs' | 'definition'>

/** Returns the column type of a field. */
export function columnTypeOf({ type, storedAs, definition }: ColumnField): ColumnType {
  const isNormal = storedAs === undefined || isServerForm(storedAs)
  return isNormal ? columnTypes[type] : otherForm(definition).columnType
}

/** Returns the stored form of a value of a field. */
export function bindValue(field: ColumnField, value: StoredValue): SqliteValue {
  return value === null ? null : columnTypeOf(field).bind(value)
}
