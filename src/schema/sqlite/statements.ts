import { Buffer } from 'node:buffer'
import type { Field, FieldTypeName } from '../../definition/field.ts'
import { fieldTypes, type StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { storedForms } from '../../definition/stored-forms.ts'
import { literalText, quoted } from '../../storage/sql/fragments.ts'
import { checkCondition, storageClassOf } from '../../storage/sqlite/forms/forms.ts'
import { bindValue, columnTypeOf } from '../../storage/sqlite/statements/columns.ts'
import type { DeclaredType, TableDialect } from '../database.ts'
import { folded, groupByTable } from '../model.ts'
import { isNotNull } from '../required-columns.ts'
import { createTables as createTablesOf } from '../missing-statements.ts'
import { columnDefinition as definitionOf } from '../statements.ts'
import type { WantedIndex } from '../wanted-indexes.ts'
import type { Affinity, ColumnType } from './column-types.ts'
import { foreignKey, hasEqualForms } from './foreign-keys.ts'

const betweenLines = ',\n  '
// What may follow the definition of a column.
const ends = [',', '\n', ')']

/** How SQLite declares tables, apart from search indexes. */
export const sqliteText: TableDialect = {
  database: 'SQLite',
  quoted,
  columnTypes: declaredTypes(),
  kept({ base }, { type, readOnly, definition }) {
    // A column of numbers keeps other strings as they are, and clients can't write a string that it would convert.
    const isShown = type === 'text' && readOnly
    const { fits } = typeOf(definition)
    return isShown || fits.includes(base as Affinity) ? sqliteText.columnTypes[type] : undefined
  },
  advice(column, field) {
    const forms = formsOf(field).filter(({ fits }) => fits.includes(column.base as Affinity))
    const names = forms.map(({ storedAs }) => `storedAs: '${storedAs}'`)
    return names.length === 0 ? undefined : `set ${names.join(' or ')}`
  },
  schema: {
    ignoresCase: true,
    ifMissing: 'IF NOT EXISTS ',
    tableOptions: ' STRICT',
    check: checkText,
    value: literalOf,
    foreignKey,
    isForeignKey: hasEqualForms,
    comparesAsTarget: true,
    indexName,
    indexOrder: (_, descending) => (descending ? ' DESC' : ''),
    nameMistake: () => undefined,
    numbered: '',
    numberAdvice: 'Declare it INTEGER PRIMARY KEY, ',
    unfit({ declared }, { type, storedAs }) {
      const form = storedAs === undefined ? '' : ` that are stored as ${storedAs}`
      return `is declared ${declared}, which would change values of type ${type}${form}`
    },
    setDefault: (definition) => `Create it yourself, such as ${definition} DEFAULT ...`,
    literal: literalText,
    place: '',
    viewText: "can't be written",
  },
}

function declaredTypes(): TableDialect['columnTypes'] {
  const declaredAs: DeclaredType = {
    declared: (definition) => storageClassOf(definition).toUpperCase(),
  }
  const types = Object.keys(fieldTypes).map((type) => [type, declaredAs] as const)
  return Object.fromEntries(types) as TableDialect['columnTypes']
}

function typeOf(definition: Field): ColumnType {
  const { type, storedAs } = definition as Field & { readonly storedAs?: string }
  return columnTypeOf({ type, storedAs, definition })
}

/** Returns the stored forms of a field, each with the affinities of columns that keep it. */
function formsOf({ type, definition }: PublishedField) {
  const names: readonly string[] =
    type in storedForms ? storedForms[type as keyof typeof storedForms] : []
  return names.map((storedAs) => ({
    storedAs,
    fits: typeOf({ ...definition, storedAs } as Field).fits,
  }))
}

function checkText({ column, definition }: PublishedField): string {
  const condition = checkCondition(quoted(column), definition)
  return condition === undefined ? '' : ` CHECK (${condition})`
}

/** Returns a value of a field as a literal of SQL, in the form that its column stores. */
function literalOf(field: PublishedField, value: NonNullable<StoredValue>): string {
  const stored = bindValue(field, value)
  if (typeof stored === 'string') return literalText(stored)
  if (stored instanceof Uint8Array) return `X'${Buffer.from(stored).toString('hex')}'`
  // Without a point it would be an integer.
  return typeof stored === 'number' && Number.isInteger(stored) && Math.abs(stored) < 1e21
    ? `${stored}.0`
    : String(stored)
}

/**
 * Returns the name of an index, such as `orders_status_-orderDate_index`. Different indexes have different names,
 * because SQLite does not create an index whose name exists. If a name contains `_`, points separate the names:
 * `order_lines.product.index`.
 */
function indexName({ table, unique, fields }: WantedIndex): string {
  const own = fields.map(
    ({ field, descending }) => `${descending ? '-' : ''}${plainName(field.column)}`,
  )
  const names = [plainName(table), ...own, unique ? 'unique' : 'index']
  return names.join(names.some((name) => name.includes('_')) ? '.' : '_')
}

// A name that contains a separator or begins with a sign is quoted.
function plainName(name: string): string {
  return /^-|[."]/.test(name) ? quoted(name) : name
}

/** Returns the statements that create the tables of collections, each with its indexes. */
export function createTables(collections: readonly PublishedCollection[]): readonly string[] {
  return [...groupByTable(collections, folded).values()].flatMap((sharing) =>
    createTablesOf(sqliteText, sharing, collections),
  )
}

/**
 * Returns a column definition. In a STRICT table it accepts only values that fit the field. `rejectsNull`: default only
 * in a key, as in a column that is added to a table.
 */
export function columnDefinition(field: PublishedField, rejectsNull?: boolean): string {
  return definitionOf(sqliteText, [], field, rejectsNull)
}

/** Returns whether a CREATE TABLE statement contains the column as {@link columnDefinition} writes it. */
function hasColumn(statement: string, field: PublishedField): boolean {
  if (isWrittenNotNull(statement, field)) return true
  return !field.inKey && contains(statement, columnDefinition(field))
}

/** Returns whether a CREATE TABLE statement contains the column as {@link columnDefinition} writes it with NOT NULL. */
export function isWrittenNotNull(statement: string, field: PublishedField): boolean {
  return contains(statement, columnDefinition(field, true))
}

/** Returns the fields of a collection whose columns a CREATE TABLE statement contains as {@link columnDefinition} writes them. */
export function exactFields(
  statement: string,
  collection: PublishedCollection,
): readonly PublishedField[] {
  const { fields } = collection
  const columns = fields.map((field) => columnDefinition(field, isNotNull([collection], field)))
  // A table that was created here is found at once.
  if (contains(statement, columns.join(betweenLines))) return fields
  return fields.filter((field) => hasColumn(statement, field))
}

function contains(statement: string, columns: string): boolean {
  for (let at = statement.indexOf(columns); at >= 0; at = statement.indexOf(columns, at + 1)) {
    if (ends.includes(statement.charAt(at + columns.length))) return true
  }
  return false
}

/**
 * Returns the type, and the stored form, whose CHECK a column has, if that CHECK rejects values of the field.
 * This happens if the definition has changed since the table was created.
 */
export function otherCheck(statement: string, field: PublishedField): string | undefined {
  if (hasColumn(statement, field)) return undefined
  return otherFields.find(({ definition }) =>
    hasColumn(statement, { ...field, type: definition.type, definition }),
  )?.name
}

/** Returns whether a column is declared as {@link columnDefinition} writes it for a field, with or without NOT NULL. */
export function isOwnColumn(declaration: string, field: PublishedField): boolean {
  return hasColumn(`${declaration.replace(/ NOT NULL$/, '')},`, { ...field, inKey: false })
}

/** Returns whether a column is declared as {@link columnDefinition} writes it for a field of any type, or NOT NULL as well. */
export function isWrittenColumn(declaration: string, field: PublishedField): boolean {
  const written = `${declaration.replace(/ NOT NULL$/, '')},`
  const ofText = { ...field, type: 'text', definition: { type: 'text' } } as const
  return (
    hasColumn(written, field) ||
    hasColumn(written, ofText) ||
    otherCheck(written, field) !== undefined
  )
}

interface OtherField {
  readonly name: string
  readonly definition: Field
}

// The CHECK of type text accepts the values of every type with storage class text.
const otherFields = (Object.keys(fieldTypes) as FieldTypeName[])
  .filter((type) => type !== 'text')
  .flatMap((type) => fieldsOf(type))
  .filter(({ definition }) => checkCondition('', definition) !== undefined)

function fieldsOf(type: FieldTypeName): readonly OtherField[] {
  const scales = type === 'decimal' ? Array.from({ length: 39 }, (_, scale) => scale) : [0]
  const forms = type in storedForms ? storedForms[type as keyof typeof storedForms] : []
  return scales.flatMap((scale) =>
    [undefined, ...forms].map((storedAs) => ({
      name: `type ${type}${storedAs === undefined ? '' : ` stored as ${storedAs}`}`,
      definition: { type, precision: 38, scale, storedAs } as Field,
    })),
  )
}
/** Returns the error of a failed statement. If it creates a unique index, the error has the reason. */
export function indexFailure(error: unknown, statement: string): unknown {
  if (!statement.startsWith('CREATE UNIQUE INDEX')) return error
  if (!(error instanceof Error) || !error.message.includes('UNIQUE constraint failed')) return error
  const [, place = ''] = statement.split(' ON ', 2)
  return new TypeError(
    `sqliteStorage: rows of ${place.replace(/;$/, '')} have the same values, which the definition declares unique. Change them, or remove the option unique.`,
    { cause: error },
  )
}
