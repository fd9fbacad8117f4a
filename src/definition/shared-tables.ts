import type { ApplicationDefinitions } from './application.ts'
import type { Mistake } from '../checks/mistakes.ts'
import { isServed } from './serve.ts'

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
