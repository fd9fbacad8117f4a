import type { ApplicationDefinitions } from '../../definition/application.ts'
import { keyNamesOf, type CollectionDefinition } from '../../definition/collection.ts'
import type { Field } from '../../definition/field.ts'

/** A difference between a definition and a database. */
export interface Difference {
  /** The name of a table, or of a table and a column with a point between them. */
  readonly place: string
  readonly kind: 'new' | 'missing' | 'changed'
  readonly text: string
}

/**
 * Returns the differences between a definition, which may have been edited, and the definition of the database.
 * Tables and columns are compared by their names in the database, so other names of collections and fields are
 * no differences. Neither are options that the definition of a database does not have, such as descriptions and
 * rights, and code.
 *
 * @param folded how the database compares names
 */
export function compareDefinitions(
  existing: ApplicationDefinitions,
  fresh: Readonly<Record<string, CollectionDefinition>>,
  folded: (name: string) => string,
): readonly Difference[] {
  const old = tablesOf(
    Object.values(existing).flatMap(({ collections }) => Object.entries(collections)),
    folded,
  )
  const current = tablesOf(Object.entries(fresh), folded)
  const differences: Difference[] = []
  for (const [key, table] of current) {
    const known = old.get(key)
    if (known === undefined) differences.push({ place: table.name, kind: 'new', text: 'new table' })
    else differences.push(...compareTables(known, table, folded))
  }
  for (const [key, { name }] of old) {
    if (!current.has(key))
      differences.push({
        place: name,
        kind: 'missing',
        text: 'is not in the database, or left out',
      })
  }
  return differences
}

/** A collection by the names of the database. */
interface Table {
  readonly name: string
  readonly facts: Readonly<Record<string, unknown>>
  readonly columns: ReadonlyMap<string, Column>
  /** The columns that are left to the database, by their names as the database compares them. */
  readonly unmanaged: ReadonlyMap<string, string>
}

interface Column {
  readonly name: string
  readonly inKey: boolean
  readonly facts: Readonly<Record<string, unknown>>
}

type Entry = readonly [endpoint: string, definition: CollectionDefinition]

function tablesOf(
  entries: readonly Entry[],
  folded: (name: string) => string,
): ReadonlyMap<string, Table> {
  const tableOf = new Map(entries.map(([endpoint, { table = endpoint }]) => [endpoint, table]))
  const stored = entries.filter(([, { serve }]) => serve === undefined)
  return new Map(
    stored.map((entry) => {
      const table = describeTable(entry, tableOf, folded)
      return [folded(table.name), table]
    }),
  )
}

function describeTable(
  [endpoint, definition]: Entry,
  tableOf: ReadonlyMap<string, string>,
  folded: (name: string) => string,
): Table {
  const { fields, unique = [], index = [], references = [], unmanaged = {} } = definition
  const columnOf = (name: string): string => fields[name]?.column ?? name
  const group = (names: readonly string[]): string => names.map(columnOf).join(', ')
  const keyNames = keyNamesOf(definition)
  const columns = Object.entries(fields).map<Column>(([name, field]) => ({
    name: field.column ?? name,
    inKey: keyNames.includes(name),
    facts: columnFacts(field, tableOf),
  }))
  return {
    name: definition.table ?? endpoint,
    columns: new Map(columns.map((column) => [folded(column.name), column])),
    unmanaged: new Map(unmanaged.columns?.map((column) => [folded(column), column])),
    facts: {
      key: group(keyNames),
      unique: unique.map(group).sort(),
      index: index.map((names) => names.map(signed(columnOf)).join(', ')).sort(),
      references: references
        .map(({ fields: names, collection, onDelete = 'restrict' }) => {
          return `${group(names)} to ${tableOf.get(collection) ?? collection}, ${onDelete}`
        })
        .sort(),
      'unmanaged foreign keys': (unmanaged.foreignKeys ?? []).map((key) => key.join(', ')).sort(),
    },
  }
}

function signed(columnOf: (name: string) => string): (name: string) => string {
  return (name) => (name.startsWith('-') ? `-${columnOf(name.slice(1))}` : columnOf(name))
}

function columnFacts(field: Field, tableOf: ReadonlyMap<string, string>): Column['facts'] {
  const { references, onDelete } = field
  const given = field as object as Readonly<Record<string, unknown>>
  return {
    ...Object.fromEntries(comparedOptions.map((option) => [option, given[option]])),
    required: field.required === true,
    unique: field.unique === true,
    readOnly: field.readOnly === true,
    // Other numbers, times and defaults come from the application.
    generated: given['generated'] === 'database' ? 'database' : undefined,
    default: field.default === 'database' ? 'database' : undefined,
    references:
      references === undefined
        ? undefined
        : `${tableOf.get(references) ?? references}, ${onDelete ?? 'restrict'}`,
  }
}

const optionsOfTypes: readonly string[] = ['storedAs', 'maxLength', 'precision', 'scale']
const comparedOptions: readonly string[] = ['type', ...optionsOfTypes, 'enumeration']

function compareTables(
  old: Table,
  current: Table,
  folded: (name: string) => string,
): readonly Difference[] {
  const differences = changes(current.name, old.facts, current.facts, folded)
  for (const [key, { name, inKey, facts }] of current.columns) {
    const place = `${current.name}.${name}`
    const known = old.columns.get(key)
    if (known === undefined) {
      if (!old.unmanaged.has(key))
        differences.push({ place, kind: 'new', text: `new column, ${String(facts['type'])}` })
    } else {
      const compared = Object.entries(facts).filter(([fact]) => {
        // A key always has a value, and another type has other options.
        if (fact === 'required') return !inKey && !known.inKey
        return facts['type'] === known.facts['type'] || !optionsOfTypes.includes(fact)
      })
      differences.push(...changes(place, known.facts, Object.fromEntries(compared), folded))
    }
  }
  for (const [key, { name }] of old.columns) {
    if (current.columns.has(key)) continue
    const place = `${current.name}.${name}`
    differences.push({ place, kind: 'missing', text: 'is not in the database, or left out' })
  }
  return [...differences, ...compareUnmanaged(old, current)]
}

/** Returns the differences of the columns that are left to the database. A definition may leave any column to it. */
function compareUnmanaged(old: Table, current: Table): readonly Difference[] {
  const added = [...current.unmanaged].filter(
    ([key]) => !old.unmanaged.has(key) && !old.columns.has(key),
  )
  const missing = [...old.unmanaged].filter(
    ([key]) => !current.unmanaged.has(key) && !current.columns.has(key),
  )
  return [
    ...added.map(([, name]) => ({
      place: `${current.name}.${name}`,
      kind: 'new' as const,
      text: 'new column, which is left out: add it to unmanaged.columns',
    })),
    ...missing.map(([, name]) => ({
      place: `${current.name}.${name}`,
      kind: 'missing' as const,
      text: 'is not in the database: remove it from unmanaged.columns',
    })),
  ]
}

function changes(
  place: string,
  old: Column['facts'],
  current: Column['facts'],
  folded: (name: string) => string,
): Difference[] {
  return Object.keys(current).flatMap((name) => {
    const [before, after] = [shown(old[name]), shown(current[name])]
    const isSame = consistsOfNames.includes(name)
      ? folded(before) === folded(after)
      : before === after
    if (isSame) return []
    const text = `${name} is ${before} in the definition, ${after} in the database`
    return [{ place, kind: 'changed', text }]
  })
}

const consistsOfNames: readonly string[] = [
  ...['key', 'unique', 'index', 'references', 'unmanaged foreign keys'],
]

function shown(value: unknown): string {
  if (value === undefined || value === '') return 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join('; ')
  return String(value)
}
