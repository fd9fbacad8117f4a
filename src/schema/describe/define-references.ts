import type { CollectionDefinition } from '../../definition/collection.ts'
import type { Field } from '../../definition/field.ts'
import type { CatalogueReference } from '../catalogue-tables.ts'
import type { AddNote, ChosenTable } from './choose-fields.ts'

/** A table with the names of its collection and fields. */
export interface NamedTable extends ChosenTable {
  readonly endpoint: string
  /** The field names by column. */
  readonly names: ReadonlyMap<string, string>
}

/** The references of one collection: options of single fields by column, and references of several fields. */
export interface DefinedReferences {
  readonly ofFields: ReadonlyMap<string, Partial<Field>>
  readonly ofCollection: NonNullable<CollectionDefinition['references']>
  /** The columns of each foreign key that they do not express. */
  readonly unmanaged: readonly (readonly string[])[]
}

/** What a delete of the referenced item does, unless it is rejected. */
type Deletion = 'cascade' | 'setNull' | undefined

/** Returns the references of collections by endpoint name. */
export function defineReferences(
  tables: readonly NamedTable[],
  folded: (name: string) => string,
  note: AddNote,
): ReadonlyMap<string, DefinedReferences> {
  const byName = new Map(tables.map((each) => [folded(each.table.name), each]))
  const cascades = new Map<string, string[]>()
  const defined = tables.map((own) => {
    const ofFields = new Map<string, Partial<Field>>()
    const ofCollection: { fields: string[]; collection: string; onDelete?: Deletion }[] = []
    const seen = new Set<string>()
    const expressed = new Set<string>()
    for (const reference of own.references) {
      const target = byName.get(folded(reference.targetName))
      const columns = reference.columns.map(
        (column) =>
          own.table.columns.find(({ name }) => folded(name) === folded(column))?.name ?? '',
      )
      const fields = columns.map((column) => own.names.get(column))
      const name = JSON.stringify([columns, target?.endpoint])
      if (target === undefined || fields.includes(undefined) || seen.has(name)) continue
      seen.add(name)
      const onDelete = deletionOf({ own, target, reference, cascades }, note)
      if ((onDelete ?? 'restrict') === reference.onDelete && reference.isImmediate !== false)
        expressed.add(identityOf(reference))
      const options = onDelete === undefined ? {} : { onDelete }
      const [only = '', ...others] = columns
      const collection = target.endpoint
      if (others.length === 0 && !ofFields.has(only))
        ofFields.set(only, { references: collection, ...options })
      else ofCollection.push({ fields: fields as string[], collection, ...options })
    }
    const unmanaged = new Map(
      own.table.references
        .filter((reference) => !expressed.has(identityOf(reference)))
        .map(({ columns }) => [JSON.stringify(columns.toSorted()), columns]),
    )
    const references = { ofFields, ofCollection, unmanaged: [...unmanaged.values()] }
    return [own.endpoint, references as DefinedReferences] as const
  })
  return new Map(defined)
}

/** Returns what identifies a foreign key of a table, whatever the order of its columns is. */
function identityOf({ columns, targetName, targetColumns, onDelete }: CatalogueReference): string {
  const pairs = columns.map((column, index) => JSON.stringify([column, targetColumns[index]]))
  return JSON.stringify([pairs.toSorted(), targetName, onDelete])
}

interface Deletes {
  readonly own: NamedTable
  readonly target: NamedTable
  readonly reference: CatalogueReference
  /** The collections whose items a delete of an item of each collection deletes. */
  readonly cascades: Map<string, string[]>
}

function deletionOf({ own, target, reference, cascades }: Deletes, note: AddNote): Deletion {
  const { onDelete, columns } = reference
  if (onDelete === 'restrict') return undefined
  const place = `${own.table.name}.${columns.join(', ')}`
  const leaveOut = (reason: string): Deletion => {
    note(place, `ON DELETE ${actions[onDelete]} left out: ${reason}`)
    return undefined
  }
  if (onDelete === 'setDefault') return leaveOut('a definition cannot express it')
  if (own.key.length === 0) return leaveOut('the table has no key that can be published')
  if (onDelete === 'setNull') {
    const fixed = own.table.columns.find(
      ({ name, notNull }) => columns.includes(name) && (notNull || own.key.includes(name)),
    )
    return fixed === undefined ? 'setNull' : leaveOut(`${fixed.name} cannot be null`)
  }
  // Within one collection, a cascade has no circle: it ends where no item refers to a deleted one.
  if (own === target) return 'cascade'
  if (reaches(own.endpoint, target.endpoint, cascades))
    return leaveOut('cascades would form a circle')
  cascades.set(target.endpoint, [...(cascades.get(target.endpoint) ?? []), own.endpoint])
  return 'cascade'
}

const actions = { cascade: 'CASCADE', setNull: 'SET NULL', setDefault: 'SET DEFAULT' }

function reaches(
  from: string,
  goal: string,
  cascades: ReadonlyMap<string, readonly string[]>,
  visited = new Set<string>(),
): boolean {
  if (from === goal) return true
  if (visited.has(from)) return false
  visited.add(from)
  return (cascades.get(from) ?? []).some((next) => reaches(next, goal, cascades, visited))
}
