import { Buffer } from 'node:buffer'
import type { Field } from '../../definition/field.ts'
import { encodedLength, unaddressable } from '../../protocol/key.ts'
import { fieldTypes } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import { storedForms } from '../../definition/stored-forms.ts'
import {
  correctThem,
  missingProblem,
  unfitProblem,
  unreachableProblem,
  type StorageProblem,
} from '../../storage/problem.ts'
import { columnTypeOf } from '../../storage/sqlite/statements/columns.ts'
import type { SqliteValue } from '../../storage/sqlite/connection/connection.ts'
import { fitCondition, furtherCondition } from '../../storage/sqlite/forms/forms.ts'
import type { InspectedTable } from './inspected-table.ts'
import { quoted } from '../../storage/sql/fragments.ts'
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

// Many rows at once would block the event loop, and show no progress.
const rowsAtOnce = 50_000

/** Returns the problems about stored values that do not fit their fields, that are missing, or that no path can have. */
export async function unfitRows(inspected: InspectedTable): Promise<readonly StorageProblem[]> {
  const { collection, fields, from, guaranteed, examples } = inspected
  const [[encoding] = []] = await inspected.run('PRAGMA encoding')
  const values = fields.flatMap((field): readonly Checked[] => {
    const misfits = misfitCondition(field, guaranteed, encoding === 'UTF-8')
    if (misfits === undefined) return []
    return [{ misfits, problem: (counted) => problemOf(inspected, { field, misfits }, counted) }]
  })
  const missing = fields.filter(mayBeMissing(inspected)).map((field): Checked => {
    const misfits = `(${quoted(field.column)} IS NULL)`
    return {
      misfits,
      problem: async (counted) =>
        missingProblem(collection, field, {
          ...counted,
          examples: await examples(`${from} WHERE ${misfits}`, [field.column]),
        }),
    }
  })
  const checked = [...values, ...missing, ...checkedKey(inspected)]
  if (checked.length === 0) return []
  const { total, counts } = await countMisfits(inspected, checked)
  const problems: StorageProblem[] = []
  for (const [index, { problem }] of checked.entries()) {
    const count = counts[index] ?? 0
    if (count > 0) problems.push(await problem({ count, total }))
  }
  return problems
}

/** Something that may be wrong with a row. */
interface Checked {
  /** The condition that it is. It is never null. */
  readonly misfits: string
  problem(counted: Counted): Promise<StorageProblem>
}

interface Counted {
  readonly count: number
  readonly total: number
}

function mayBeMissing({ table }: InspectedTable): (field: PublishedField) => boolean {
  return ({ required, inKey, column }) => required && !inKey && table.find(column)?.notNull !== true
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

function checkedKey({ collection, fields, from, examples }: InspectedTable): readonly Checked[] {
  const { key, maxKeyLength } = collection
  const isPresent = key.every((field) => fields.includes(field))
  if (key.length === 0 || maxKeyLength === Infinity || !isPresent) return []
  // A cast would leave the mark of JSON that the value of an expression may have.
  const texts = key.map(({ column }) => `(${quoted(column)} || '')`)
  const given = key.map(({ column }) => `${quoted(column)} IS NOT NULL`).join(' AND ')
  const length = `${pathFunction}(json_array(${texts.join(', ')}))`
  const misfits = `(${given} AND coalesce(${length} > ${maxKeyLength}, 1))`
  return [
    {
      misfits,
      problem: async (counted) =>
        unreachableProblem(collection, {
          ...counted,
          examples: await examples(`${from} WHERE ${misfits}`, []),
        }),
    },
  ]
}

interface CheckedField {
  readonly field: PublishedField
  /** The condition that the value does not fit. It is never null. */
  readonly misfits: string
}

function misfitCondition(
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

// A statement of SQLite returns 2,000 columns at most.
const termsAtOnce = 1_000

async function countMisfits(
  { collection, run, rowId, progress, from }: InspectedTable,
  checked: readonly Checked[],
): Promise<{ readonly total: number; readonly counts: readonly number[] }> {
  const terms = ['count(*)', ...checked.map(({ misfits }) => `sum(${misfits})`)]
  const [[total = 0] = []] = await run(`SELECT count(*) FROM ${from}`)
  const counts = checked.map(() => 0)
  let done = 0
  const add = async (where: string, parameters: readonly SqliteValue[]): Promise<void> => {
    const found: number[] = []
    for (let at = 0; at < terms.length; at += termsAtOnce) {
      const group = terms.slice(at, at + termsAtOnce).join(', ')
      const [row = []] = await run(`SELECT ${group} FROM ${from}${where}`, parameters)
      found.push(...row.map((count) => Number(count ?? 0)))
    }
    done += found[0] ?? 0
    for (const [index, count] of counts.entries()) counts[index] = count + (found[index + 1] ?? 0)
    progress(collection, done, Number(total))
  }
  if (rowId === undefined) {
    await add('', [])
    return { total: done, counts }
  }
  const bounds = `SELECT CAST(${rowId} AS TEXT) FROM ${from} WHERE ${rowId} > CAST(? AS INTEGER) ORDER BY ${rowId} LIMIT 1 OFFSET ${rowsAtOnce - 1}`
  const between = ` WHERE ${rowId} > CAST(? AS INTEGER) AND ${rowId} <= CAST(? AS INTEGER)`
  let [after, last] = ['-9223372036854775808', '']
  while (last !== end) {
    const [[bound = end] = []] = await run(bounds, [after])
    last = String(bound)
    await add(between, [after, last])
    after = last
  }
  return { total: done, counts }
}

const end = '9223372036854775807'

async function problemOf(
  inspected: InspectedTable,
  { field, misfits }: CheckedField,
  counted: Counted,
): Promise<StorageProblem> {
  const { collection, from, examples } = inspected
  return unfitProblem(collection, field, {
    advice: await adviceFor(inspected, field),
    examples: await examples(`${from} WHERE ${misfits}`, [field.column]),
    ...counted,
  })
}

/** Returns what to do: declare the form that the values have, or correct them. */
async function adviceFor(
  { table, from, run }: InspectedTable,
  field: PublishedField,
): Promise<string> {
  const column = quoted(field.column)
  const declared = table.find(field.column)?.declared ?? ''
  const forms = otherForms(field, declared)
  const fits = forms.map(
    ({ definition }) => `sum(CASE WHEN ${fitCondition(column, definition)} THEN 1 ELSE 0 END)`,
  )
  const [[values = 0, ...counts] = []] =
    forms.length === 0
      ? []
      : await run(`SELECT count(*), ${fits.join(', ')} FROM ${from} WHERE ${column} IS NOT NULL`)
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
