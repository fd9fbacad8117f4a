import { mistaken } from '../../checks/mistakes.ts'
import { inspectApplications } from '../../definition/check.ts'
import type { CollectionDefinition, UnmanagedData } from '../../definition/collection.ts'
import type { Field } from '../../definition/field.ts'
import { fieldTypes } from '../../definition/field-type.ts'
import { parseJson, stringifyJson } from '../../protocol/json-text.ts'
import { chooseFields, type AddNote, type ChosenTable } from './choose-fields.ts'
import {
  isCut,
  uniqueGroups,
  type ColumnDescription,
  type DatabaseDescription,
  type LeftOut,
  type TableDescription,
} from './description.ts'
import { limitOf, publishedEvents } from './published-events.ts'
import { endpointNames, fieldNames } from './names.ts'
import { defineReferences, type DefinedReferences, type NamedTable } from './define-references.ts'

/** The definition of a database, and what it does not publish or what to know of it. */
export interface DefinedDatabase {
  /** By endpoint name. */
  readonly collections: Readonly<Record<string, CollectionDefinition>>
  readonly notes: readonly Note[]
}

/** A note about a table or column. */
export interface Note {
  /** The name of a table, or of a table and a column with a point between them. */
  readonly place: string
  readonly text: string
}

/**
 * Returns the definition of a database. It passes the checks of `createService`: a table whose definition does not is left
 * out, with the reason.
 *
 * @param folded how the database compares names
 */
export function defineDatabase(
  description: DatabaseDescription,
  folded: (name: string) => string,
): DefinedDatabase {
  let { tables, leftOut } = description
  for (;;) {
    const defined = defineTables({ tables, leftOut }, folded)
    const unfit = unfitCollections(defined)
    if (unfit.length === 0) return defined
    // The references to these tables must be left out as well.
    const names = new Set(unfit.map(({ name }) => name))
    tables = tables.filter(({ name }) => !names.has(name))
    leftOut = [...leftOut, ...unfit]
  }
}

/** Returns the tables whose definitions do not load, each with its first mistake. */
function unfitCollections({ collections }: DefinedDatabase): readonly LeftOut[] {
  const written = parseJson(stringifyJson({ database: { collections } }) as string)
  const { mistakes } = inspectApplications(written, { form: 'json', toServe: true })
  const unfit = new Map<string, string>()
  for (const { place, advice } of mistakes) {
    const [, , , endpoint = '', ...member] = place.split('.')
    const { table = endpoint } = collections[endpoint] ?? {}
    if (collections[endpoint] === undefined) throw mistaken(mistakes)
    if (unfit.has(table)) continue
    unfit.set(table, `its definition can't be loaded: ${member.join('.')}: ${advice}`)
  }
  return Array.from(unfit, ([name, reason]) => ({ name, reason }))
}

function defineTables(
  { tables, leftOut }: DatabaseDescription,
  folded: (name: string) => string,
): DefinedDatabase {
  const notes: Note[] = leftOut.map(({ name, reason }) => ({
    place: name,
    text: `left out: ${reason}`,
  }))
  const note: AddNote = (place, text) => void notes.push({ place, text })
  const chosen = chooseFields(tables.map(withPublishableColumns), folded, (place, text) => {
    note(place, `reference left out: ${text}`)
  })
  const published = chosen.filter(({ fields }) => fields.size > 0)
  const endpoints = endpointNames(published.map(({ table }) => table.name))
  const named = published.map<NamedTable>((each, index) => ({
    ...each,
    endpoint: endpoints[index] as string,
    names: namesOf(each),
  }))
  for (const { table, fields } of chosen)
    if (fields.size === 0) note(table.name, 'left out: it has no column that can be published')
  const references = defineReferences(named, folded, note)
  const collections = named.map(
    (each) =>
      [
        each.endpoint,
        defineTable(each, references.get(each.endpoint) ?? noReferences, note),
      ] as const,
  )
  notes.sort((left, right) => (left.place < right.place ? -1 : left.place > right.place ? 1 : 0))
  return { collections: Object.fromEntries(collections), notes }
}

/** Returns a table without the types of columns whose names a definition can't contain. */
function withPublishableColumns(table: TableDescription): TableDescription {
  const seen = new Set<string>()
  const columns = table.columns.map((column) => {
    const name = column.name.toLowerCase()
    const note =
      name === ''
        ? 'its name is empty'
        : name === '__proto__'
          ? 'its name is reserved by JavaScript'
          : seen.has(name)
            ? 'its name differs from another column only in case'
            : undefined
    if (column.fields.length > 0) seen.add(name)
    return note === undefined ? column : { ...column, fields: [], note }
  })
  return { ...table, columns }
}

const noReferences: DefinedReferences = { ofFields: new Map(), ofCollection: [], unmanaged: [] }

function namesOf({ table, fields }: ChosenTable): ReadonlyMap<string, string> {
  const columns = table.columns.map(({ name }) => name).filter((name) => fields.has(name))
  const names = fieldNames(columns)
  return new Map(columns.map((column, index) => [column, names[index] as string]))
}

function defineTable(
  named: NamedTable,
  { ofFields, ofCollection, unmanaged: foreignKeys }: DefinedReferences,
  note: AddNote,
): CollectionDefinition {
  const { table, fields, key, endpoint, names } = named
  const isWritable = table.readOnly === undefined
  const uniques = isWritable ? uniqueFields(named) : []
  const single = new Set(uniques.flatMap((group) => (group.length === 1 ? group : [])))
  const several = uniques.filter((group) => group.length > 1)
  const index = isWritable ? indexesOf(named) : []
  const columns = table.columns.map(({ name }) => name).filter((name) => !fields.has(name))
  const defined: Record<string, Field> = {}
  for (const column of table.columns) {
    const field = fields.get(column.name)
    const name = names.get(column.name)
    const place = `${table.name}.${column.name}`
    if (column.note !== undefined || field === undefined)
      note(place, noteOf(column, key.length > 0))
    if (field === undefined || name === undefined) continue
    const limit = limitOf(named, column)
    if (limit !== undefined) note(place, limit.note)
    defined[name] = {
      ...(key.length === 0 ? inPages(field) : field),
      ...(isWritable ? saveOptions(named, column) : {}),
      ...(single.has(name) ? { unique: true } : {}),
      ...ofFields.get(column.name),
      ...allowedValues(field, column),
      ...(column.isComputed || limit?.isReadOnly === true ? { readOnly: true } : {}),
      ...(name === column.name ? {} : { column: column.name }),
    } as Field
  }
  const { rows = 0 } = table.unreachable.find((one) => groupName(one.key) === groupName(key)) ?? {}
  if (isWritable && rows > 0) note(table.name, unreachableNote(rows))
  const keyNames = key.map((column) => names.get(column) as string)
  const [first = ''] = keyNames
  const publishes = publishedEvents(named, note)
  return {
    ...(key.length === 0 ? {} : { key: key.length === 1 ? first : keyNames }),
    ...(endpoint === table.name ? {} : { table: table.name }),
    ...(publishes === undefined ? {} : { publishes }),
    ...(several.length === 0 ? {} : { unique: several }),
    ...(index.length === 0 ? {} : { index }),
    ...(ofCollection.length === 0 ? {} : { references: ofCollection }),
    ...unmanagedOf({ columns, foreignKeys }),
    fields: defined,
  }
}

function unmanagedOf({
  columns,
  foreignKeys,
}: Required<UnmanagedData>): Pick<CollectionDefinition, 'unmanaged'> {
  if (columns.length + foreignKeys.length === 0) return {}
  return {
    unmanaged: {
      ...(columns.length === 0 ? {} : { columns }),
      ...(foreignKeys.length === 0 ? {} : { foreignKeys }),
    },
  }
}

function unreachableNote(rows: number): string {
  const [items, one] =
    rows === 1 ? ['1 row has a key', 'it'] : [`${rows} rows have keys`, 'one of them']
  return `${items} that no path can have: an empty one, "." or "..", or one of several parts with an empty part or a comma. Pages have ${rows === 1 ? 'it' : 'them'}, but no request reads, updates or deletes ${one} alone`
}

// Without a key, there are no single items.
function inPages(field: Field): Field {
  const { itemOnly: _itemOnly, ...others } = field
  return others
}

function noteOf(
  { fields, note = '', noteInPages = note }: ColumnDescription,
  hasKey: boolean,
): string {
  if (fields.length === 0) return `left out: ${note}`
  return hasKey ? note : noteInPages
}

function saveOptions({ table, key }: ChosenTable, column: ColumnDescription): Partial<Field> {
  const { name, notNull, hasDefault, isComputed } = column
  // An insert leaves the value to the database.
  if (isComputed) return { default: 'database' }
  if (name === table.generated) return { generated: 'database' }
  return {
    ...(notNull && !key.includes(name) ? { required: true } : {}),
    ...(hasDefault ? { default: 'database' as const } : {}),
  }
}

function allowedValues(field: Field, { allowed = [] }: ColumnDescription): Partial<Field> {
  const { type } = field
  const kind = { text: 'string', integer: 'number', double: 'number' }[type as string]
  // The spaces at the end of a `char(n)` are not part of its value.
  const isPadded = 'storedAs' in field && field.storedAs === 'char'
  const values = allowed.map((value) =>
    isPadded && typeof value === 'string' ? value.replace(/ +$/, '') : value,
  )
  const isUsable =
    values.length > 0 &&
    values.every(
      (value) => typeof value === kind && fieldTypes[type].accepts(value, { type } as Field),
    )
  return isUsable ? { enumeration: [...new Set(values)] } : {}
}

/** Returns the groups of fields that are unique besides the key, without repetitions. */
function uniqueFields({ table, key, names, fields }: NamedTable): readonly (readonly string[])[] {
  const seen = new Set([groupName(key)])
  return uniqueGroups(table).flatMap((group) => {
    const isUsable = group.every((column) => {
      const field = fields.get(column)
      return field !== undefined && fieldTypes[field.type].filterable && !isCut(field)
    })
    if (!isUsable || seen.has(groupName(group))) return []
    seen.add(groupName(group))
    return [group.map((column) => names.get(column) as string)]
  })
}

/** Returns the indexes on fields that conditions can name. */
function indexesOf({ table, names, fields }: NamedTable): readonly (readonly string[])[] {
  return table.indexes.flatMap(({ unique, columns }) => {
    const listed = columns.flatMap(({ name, descending }) => {
      const field = fields.get(name ?? '')
      const isUsable = field !== undefined && fieldTypes[field.type].filterable
      return isUsable ? [`${descending ? '-' : ''}${names.get(name ?? '') as string}`] : []
    })
    const distinct = new Set(columns.map(({ name }) => name))
    return unique || listed.length < columns.length || distinct.size < columns.length
      ? []
      : [listed]
  })
}

function groupName(columns: readonly string[]): string {
  return JSON.stringify(columns.toSorted())
}
