import type { ApplicationDefinitions } from './application.ts'
import type { Mistake } from './mistake.ts'

/**
 * The collections of different applications that share a table without `sharesTable` on both. Names of
 * tables are compared in lower case, as databases do.
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
      const advice = `${other.application}/${other.collection} has this table too: name another table, or set sharesTable on both collections`
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
    Object.entries(collections).map(
      ([collection, { table = collection, sharesTable = false }]) => ({
        application,
        collection,
        place: `applications.${application}.collections.${collection}.table`,
        table: table.toLowerCase(),
        sharesTable,
      }),
    ),
  )
}
