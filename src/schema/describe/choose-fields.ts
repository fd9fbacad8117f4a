import type { Field } from '../../definition/field.ts'
import { fieldTypes } from '../../definition/field-type.ts'
import type { CatalogueReference } from '../catalogue-tables.ts'
import { formOf, isCut, type TableDescription } from './description.ts'

/** A table with the field of each column that can be published, its key, and its references. */
export interface ChosenTable {
  readonly table: TableDescription
  readonly fields: ReadonlyMap<string, Field>
  /** The columns of its key. Empty without a key. */
  readonly key: readonly string[]
  /** Those whose columns are the key of the other table, in the order of that key. */
  readonly references: readonly CatalogueReference[]
}

/** Adds a note about a table or column. */
export type AddNote = (place: string, text: string) => void

/**
 * Chooses the field of each column and the key of each table. Columns that refer to a key get the same type and
 * form as the key: for example bigint, if one of them has values that no integer field can hold.
 *
 * @param folded how the database compares names
 */
export function chooseFields(
  tables: readonly TableDescription[],
  folded: (name: string) => string,
  note: AddNote,
): readonly ChosenTable[] {
  const keys = new Map(tables.map((table) => [folded(table.name), keyOf(table)]))
  const columns = new Map<string, Column>()
  const columnIn = (table: string, name: string): Column | undefined =>
    columns.get(JSON.stringify([folded(table), folded(name)]))
  for (const table of tables) {
    const key = keys.get(folded(table.name)) ?? []
    for (const { name, fields } of table.columns) {
      const usable = key.includes(name) ? fields.filter(isForKey) : fields
      columns.set(JSON.stringify([folded(table.name), folded(name)]), { fields: usable, links: [] })
    }
  }
  const aligned = tables.map((table) =>
    table.references.flatMap((reference) => {
      const key = keys.get(folded(reference.targetName))
      const ordered = key && inOrderOf(reference, key, folded)
      if (ordered !== undefined) return [ordered]
      note(placeOf(table, reference.columns), reasonOf(reference, key))
      return []
    }),
  )
  const connected = aligned.map((references, index) =>
    references.filter((reference) => {
      const table = tables[index] as TableDescription
      const pairs = reference.columns.map((name, at) => [
        columnIn(table.name, name),
        columnIn(reference.targetName, reference.targetColumns[at] as string),
      ])
      const isConnected = pairs.every(([own, target]) => haveCommonForm(own, target))
      if (isConnected) for (const [own, target] of pairs) link(own, target)
      else
        note(placeOf(table, reference.columns), `${reference.targetName} has keys of another type`)
      return isConnected
    }),
  )
  return tables.map((table, index) => ({
    table,
    fields: new Map(
      table.columns.flatMap(({ name }) => {
        const field = chosen(columnIn(table.name, name))
        return field === undefined ? [] : [[name, field]]
      }),
    ),
    key: keys.get(folded(table.name)) ?? [],
    references: connected[index] ?? [],
  }))
}

/** A column, the fields that it may be, and the columns with which it shares its values. */
interface Column {
  fields: readonly Field[]
  readonly links: Column[]
}

/** Returns the first group of columns that can be a key. */
function keyOf({ keys, columns, readOnly }: TableDescription): readonly string[] {
  if (readOnly !== undefined) return []
  const isUsable = (name: string): boolean =>
    columns.some((column) => column.name === name && column.fields.some(isForKey))
  return keys.find((key) => key.every(isUsable)) ?? []
}

function isForKey(field: Field): boolean {
  const { type } = field
  // Different values are equal for clients if they differ after the milliseconds.
  return fieldTypes[type].filterable && type !== 'double' && !isCut(field)
}

function inOrderOf(
  reference: CatalogueReference,
  key: readonly string[],
  folded: (name: string) => string,
): CatalogueReference | undefined {
  const targets = reference.targetColumns.map(folded)
  const places = key.map((name) => targets.indexOf(folded(name)))
  if (key.length === 0 || key.length !== targets.length || places.includes(-1)) return undefined
  return {
    ...reference,
    targetColumns: key,
    columns: places.map((place) => reference.columns[place] as string),
  }
}

function reasonOf(
  { targetName, targetColumns }: CatalogueReference,
  key: readonly string[] | undefined,
): string {
  if (key === undefined) return `refers to ${targetName}, which is not published`
  if (key.length === 0) return `refers to ${targetName}, which has no key`
  return `refers to ${targetColumns.join(', ')} of ${targetName}, whose key is ${key.join(', ')}`
}

// Each link leaves only the common forms, so that all linked columns keep the same forms.
function link(own: Column | undefined, target: Column | undefined): void {
  if (own === undefined || target === undefined || own === target) return
  own.links.push(target)
  target.links.push(own)
  const all = linkedTo(own, new Set())
  const forms = target.fields
    .map(formOf)
    .filter((form) =>
      [...all].every(({ fields }) => fields.some((field) => formOf(field) === form)),
    )
  if (forms.length === 0) return
  for (const column of all) {
    column.fields = forms.flatMap((form) => {
      const field = column.fields.find((each) => formOf(each) === form)
      return field === undefined ? [] : [field]
    })
  }
}

function linkedTo(column: Column, found: Set<Column>): ReadonlySet<Column> {
  if (found.has(column)) return found
  found.add(column)
  for (const other of column.links) linkedTo(other, found)
  return found
}

// All columns that are linked already have the same forms.
function haveCommonForm(own: Column | undefined, target: Column | undefined): boolean {
  const forms = new Set(target?.fields.map(formOf))
  return own?.fields.some((field) => forms.has(formOf(field))) === true
}

function chosen(column: Column | undefined): Field | undefined {
  return column?.fields[0]
}

function placeOf({ name }: TableDescription, columns: readonly string[]): string {
  return [name, columns.join(', ')].join('.')
}
