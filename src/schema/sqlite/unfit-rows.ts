import { Buffer } from 'node:buffer'
import type { Field } from '../../definition/field.ts'
import { fieldTypes } from '../../definition/field-type.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import { storedForms } from '../../definition/stored-forms.ts'
import { encodedLength, unaddressable } from '../../protocol/key.ts'
import { correctThem } from '../../storage/problem.ts'
import { quoted, raw, sql } from '../../storage/sql/fragments.ts'
import type { SqliteValue } from '../../storage/sqlite/connection/connection.ts'
import { fitCondition, furtherCondition } from '../../storage/sqlite/forms/forms.ts'
import { columnTypeOf } from '../../storage/sqlite/statements/columns.ts'
import type { CheckedRows, InspectedTable } from '../inspected-table.ts'
import { affinityOf } from './column-types.ts'

/** The name of the SQL function that returns the number of bytes of a string that the driver has decoded. */
export const bytesFunction = 'rowgate_bytes'

/** Returns the number of bytes of a decoded string: the implementation of {@link bytesFunction}. */
export function bytesOf(value: SqliteValue): SqliteValue {
  return typeof value === 'string' ? BigInt(Buffer.byteLength(value)) : null
}

/** The name of the SQL function that returns whether a string is the JSON of a field: SQLite accepts more than requests. */
export const jsonFunction = 'rowgate_json'

/** Returns 1 for the JSON of a field, and otherwise 0: the implementation of {@link jsonFunction}. */
export function isFieldJson(value: SqliteValue): SqliteValue {
  return fieldTypes.json.isStored(value, { type: 'json' }) ? 1n : 0n
}

/** The name of the SQL function that returns the bytes of a key in a path. */
export const pathFunction = 'rowgate_path'

/**
 * Returns the bytes of a key in a path, or null if no path can have it: the implementation of {@link pathFunction}. Its
 * argument is an array of the parts, in JSON.
 */
export function pathLength(value: SqliteValue): SqliteValue {
  const parts = (JSON.parse(String(value)) as readonly unknown[]).map(String)
  if (parts.some((part) => unaddressable(part, parts.length) !== undefined)) return null
  return BigInt(encodedLength(parts))
}

/** Returns the check of keys that no path can have. */
export function unreachableKeys({
  key,
  maxKeyLength,
}: PublishedCollection): CheckedRows | undefined {
  if (key.length === 0) return undefined
  // A cast would leave the mark of JSON that the value of an expression may have.
  const texts = key.map(({ column }) => `(${quoted(column)} || '')`)
  const given = key.map(({ column }) => `${quoted(column)} IS NOT NULL`).join(' AND ')
  const length = `${pathFunction}(json_array(${texts.join(', ')}))`
  return { misfits: raw(`(${given} AND coalesce(${length} > ${maxKeyLength}, 1))`) }
}

/** Returns the condition that a value does not fit its field. It is never null. Undefined: every value fits. */
export function misfitCondition(
  field: PublishedField,
  guaranteed: ReadonlySet<PublishedField>,
  isUtf8: boolean,
): string | undefined {
  const column = quoted(field.column)
  const condition = (guaranteed.has(field) ? furtherCondition : fitCondition)(
    column,
    field.definition,
  )
  const mayHaveAnyText = field.type === 'text' || field.type === 'json'
  const terms = [
    condition,
    field.type === 'json' ? `${jsonFunction}(${column})` : undefined,
    isUtf8 && mayHaveAnyText ? validText(column) : undefined,
  ]
  const given = terms.filter((term) => term !== undefined)
  if (given.length === 0) return undefined
  const fits = given.map((term) => `(${term})`).join(' AND ')
  return `CASE WHEN ${field.inKey ? fits : `${column} IS NULL OR ${fits}`} THEN 0 ELSE 1 END`
}

// A CHECK can't detect text that is not valid UTF-8. The driver replaces it, so its length differs.
function validText(column: string): string {
  return `${bytesFunction}(${column}) = length(CAST(${column} AS BLOB))`
}

/** Returns what to do: declare the form that the values have, or correct them. */
export async function formAdvice(
  { found, from, rows }: Pick<InspectedTable, 'found' | 'from' | 'rows'>,
  field: PublishedField,
): Promise<string> {
  const column = quoted(field.column)
  const declared = found.find(field.column)?.declared ?? ''
  const forms = otherForms(field, declared)
  const fits = forms.map(
    ({ definition }) => `sum(CASE WHEN ${fitCondition(column, definition)} THEN 1 ELSE 0 END)`,
  )
  const [[values = 0, ...counts] = []] =
    forms.length === 0
      ? []
      : await rows(
          sql`select count(*), ${raw(fits.join(', '))} from ${from} where ${raw(column)} is not null`,
        )
  const best = Math.max(0, ...counts.map(Number))
  const form = forms[counts.findIndex((count) => Number(count) === best)]
  if (form === undefined || best === 0) return correctThem
  const change =
    form.storedAs === undefined ? 'Without storedAs' : `With storedAs: '${form.storedAs}'`
  if (best === Number(values)) return `${change}, all of them fit.`
  return `${change}, ${best} of ${String(values)} values fit. ${correctThem}`
}

/** Returns the other forms of a field that its column can hold. */
function otherForms(field: PublishedField, declared: string): readonly OtherDefinition[] {
  const names: readonly string[] =
    field.type in storedForms ? storedForms[field.type as keyof typeof storedForms] : []
  return [undefined, ...names]
    .filter((storedAs) => storedAs !== field.storedAs)
    .map((storedAs) => ({
      storedAs,
      definition: Object.fromEntries(
        Object.entries({ ...field.definition, storedAs }).filter(
          ([, value]) => value !== undefined,
        ),
      ) as unknown as Field,
    }))
    .filter(({ storedAs, definition }) =>
      columnTypeOf({ type: field.type, storedAs, definition }).fits.includes(affinityOf(declared)),
    )
}

interface OtherDefinition {
  readonly storedAs: string | undefined
  readonly definition: Field
}
