import type { ApplicationDefinitions } from '../application.ts'
import type { Mistake } from '../../checks/mistakes.ts'
import type { CollectionDefinition } from '../collection.ts'
import { isServed, servingFunctions } from '../serve.ts'

/** Returns the mistakes in the functions that serve a well-formed collection. */
export function serveMistakes(collection: CollectionDefinition): readonly Mistake[] {
  const { serve, key = [], singleton = false, fields, table, sharesTable } = collection
  if (serve === undefined) return []
  const given = servingFunctions.filter((name) => serve[name] !== undefined)
  const mistakes: Mistake[] = []
  const add = (place: string, advice: string): void => {
    mistakes.push({ place, advice })
  }
  if (given.length === 0) add('serve', 'add a function, such as filter, or leave it out')
  for (const name of given) {
    if (singleton && name !== 'get') add(`serve.${name}`, 'a singleton is served by get alone')
    else if (!singleton && key.length === 0 && needsKey.includes(name)) {
      add(`serve.${name}`, 'needs a key: declare one, or leave it out')
    } else if (writesItem.includes(name) && serve.get === undefined && serve.filter === undefined) {
      add(`serve.${name}`, 'needs get or filter, which read the item that is written')
    }
  }
  if (table !== undefined) add('table', 'a served collection has no table: leave it out')
  if (sharesTable !== undefined)
    add('sharesTable', 'a served collection has no table: leave it out')
  if (collection.search !== undefined)
    add('search', 'a served collection has no index: leave it out')
  if (collection.renamedFrom !== undefined)
    add('renamedFrom', 'a served collection has no table: leave it out')
  if (collection.unmanaged !== undefined)
    add('unmanaged', 'a served collection has no table: leave it out')
  const noColumns = 'a served collection has no columns: leave it out'
  for (const [name, field] of Object.entries(fields)) {
    if (field.column !== undefined) add(`fields.${name}.column`, noColumns)
    if (field.renamedFrom !== undefined) add(`fields.${name}.renamedFrom`, noColumns)
    const { storedAs } = field as { readonly storedAs?: string }
    if (storedAs !== undefined) add(`fields.${name}.storedAs`, noColumns)
    if (field.default === 'database') add(`fields.${name}.default`, noColumns)
  }
  return mistakes
}

const needsKey: readonly string[] = ['get', 'update', 'delete']
const writesItem: readonly string[] = ['update', 'delete']

/**
 * Returns a mistake for each collection that shares a table with another application without `sharesTable`
 * on both. Names of tables are compared in lower case, as in databases.
 */
export function sharedTableMistakes(applications: ApplicationDefinitions): readonly Mistake[] {
  const users = new Map<string, TableUser[]>()
  for (const user of tableUsers(applications)) {
    const known = users.get(user.table)
    if (known === undefined) users.set(user.table, [user])
    else known.push(user)
  }
  return [...users.values()].flatMap((sharing) =>
    sharing.flatMap((user) => {
      if (user.sharesTable) return []
      const other = sharing.find(({ application }) => application !== user.application)
      if (other === undefined) return []
      const advice = `${other.application}/${other.collection} has the same table: choose another table, or set sharesTable on both collections`
      return [{ place: user.place, advice }]
    }),
  )
}

interface TableUser {
  readonly application: string
  readonly collection: string
  readonly place: string
  readonly table: string
  readonly sharesTable: boolean
}

function tableUsers(applications: ApplicationDefinitions): readonly TableUser[] {
  return Object.entries(applications).flatMap(([application, { collections }]) =>
    Object.entries(collections)
      .filter(([, definition]) => !isServed(definition))
      .map(([collection, { table = collection, sharesTable = false }]) => ({
        application,
        collection,
        place: `applications.${application}.collections.${collection}.table`,
        table: table.toLowerCase(),
        sharesTable,
      })),
  )
}

/** Returns a mistake for each field whose column another field has. Columns are compared in lower case. */
export function columnMistakes({ fields }: CollectionDefinition): readonly Mistake[] {
  const seen = new Map<string, string>()
  return Object.entries(fields).flatMap(([name, field]) => {
    const column = (field.column ?? name).toLowerCase()
    const other = seen.get(column)
    seen.set(column, name)
    if (other === undefined) return []
    const advice = `${other} has the same column; set the option column of one of them`
    return [{ place: `fields.${name}`, advice }]
  })
}

/** Returns a mistake for each column that is left to the database although a field has it. */
export function unmanagedMistakes({ fields, unmanaged }: CollectionDefinition): readonly Mistake[] {
  const columns = new Map(Object.entries(fields).map(([name, { column = name }]) => [column, name]))
  return (unmanaged?.columns ?? []).flatMap((column, index) => {
    const field = columns.get(column)
    if (field === undefined) return []
    const advice = `${column} is the column of ${field}: leave it out`
    return [{ place: `unmanaged.columns.${index}`, advice }]
  })
}

/** Returns a mistake for each former column that another field has as well, now or formerly. */
export function renamingMistakes({ fields }: CollectionDefinition): readonly Mistake[] {
  const columns = new Map(
    Object.entries(fields).map(([name, field]) => [(field.column ?? name).toLowerCase(), name]),
  )
  const seen = new Map<string, string>()
  return Object.entries(fields).flatMap(([name, field]) => {
    const former = field.renamedFrom?.toLowerCase()
    if (former === undefined) return []
    const place = `fields.${name}.renamedFrom`
    const [owner, other] = [columns.get(former), seen.get(former)]
    seen.set(former, name)
    if (owner === name) return [{ place, advice: 'is the name of the column itself: leave it out' }]
    if (owner !== undefined) return [{ place, advice: `is the column of ${owner}: leave it out` }]
    if (other === undefined) return []
    return [{ place, advice: `${other} was renamed from the same column: leave one of them out` }]
  })
}
