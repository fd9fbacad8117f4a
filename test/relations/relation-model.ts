import type { ApplicationDefinition, CollectionDefinition } from '../../src/entries/index.ts'

type Row = Readonly<Record<string, unknown>>

/** Returns the references to missing rows and the repeated values of unique groups among rows. */
export function brokenRelations(
  { collections }: ApplicationDefinition,
  rows: Readonly<Record<string, readonly Row[]>>,
): readonly string[] {
  return Object.entries(collections).flatMap(([name, definition]) => {
    const own = rows[name] ?? []
    const dangling = (definition.references ?? []).flatMap(({ fields, collection }) => {
      const key = keyOf(collections[collection] as CollectionDefinition)
      const present = new Set((rows[collection] ?? []).map((row) => valuesOf(row, key)))
      return own
        .map((row) => valuesOf(row, fields))
        .filter((value) => value !== undefined && !present.has(value))
        .map((value) => `${name}.${fields.join()} refers to nothing: ${value ?? ''}`)
    })
    const single = Object.entries(definition.fields).flatMap(([field, { unique }]) =>
      unique === true ? [[field]] : [],
    )
    const repeated = [keyOf(definition), ...single, ...(definition.unique ?? [])].flatMap(
      (fields) => {
        const found = own.map((row) => valuesOf(row, fields)).filter((value) => value !== undefined)
        return new Set(found).size === found.length ? [] : [`${name}.${fields.join()} is repeated`]
      },
    )
    return [...dangling, ...repeated]
  })
}

function keyOf({ key = [] }: CollectionDefinition): readonly string[] {
  return typeof key === 'string' ? [key] : key
}

function valuesOf(row: Row, fields: readonly string[]): string | undefined {
  const values = fields.map((field) => row[field] ?? null)
  return values.includes(null) ? undefined : JSON.stringify(values)
}
