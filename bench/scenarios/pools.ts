import { members, poolTables } from '../database.ts'
import type { Goal, RatioGoal, Scenario } from '../scenario.ts'
import { distinctItems, distinctPages, filteredPages, reads, type Requests } from './reads.ts'
import { updates, writes } from './writes.ts'

/** A database behind a pool, and who takes part there. */
export interface PoolDatabase {
  /** What the names of its scenarios begin with. */
  name: string
  title: string
  servers: readonly string[]
  /** The hand-written servers, with open access and with keys, and those of rowgate. */
  pairs: Readonly<Record<Access, { own: string; of: string }>>
}

type Access = 'open' | 'keys'

const shared = ['read-page', 'read-100', 'read-item', 'insert']
const sameAsOnSqlite: Scenario[] = [...reads, ...writes].filter(({ name }) => shared.includes(name))

const distinct: (Requests & Pick<Scenario, 'name' | 'title'>)[] = [
  {
    name: 'read-items',
    title: 'Read 2,000 distinct items in turn: all 10 fields',
    ...distinctItems('members', members),
  },
  {
    name: 'read-pages',
    title: 'Read 10,000 distinct pages in turn: 1 to 20 of 2,000 rows, 500 offsets',
    ...distinctPages('members', members),
  },
  {
    name: 'filtered',
    title: 'Read pages filtered by 200 values of an indexed column in turn: 10 of 2,000 rows',
    ...filteredPages('members', members),
  },
  {
    name: 'update',
    title: 'Update: one field of a random row of 2,000, validated',
    ...updates('members', members),
  },
]

/** The goals of a scenario: by processor time of the hand-written server with open access, and with keys. */
export type PoolGoals = Partial<Record<Access, number>> & { floor?: string }

/** Returns the goals by processor time. */
export function goalsOf({ pairs }: PoolDatabase, { floor, ...ratios }: PoolGoals): Goal[] {
  return (['open', 'keys'] as const).flatMap((access): RatioGoal[] => {
    const ratio = ratios[access]
    if (ratio === undefined) return []
    return [{ ...pairs[access], ratio, ...(floor !== undefined && { floor }) }]
  })
}

/** Returns the scenarios that have goals, each with its requests from all servers. */
export function poolScenarios(
  database: PoolDatabase,
  goals: Readonly<Record<string, PoolGoals>>,
): Scenario[] {
  return Object.entries(goals).map(([name, own]) => {
    const found = [...distinct, ...sameAsOnSqlite].find((scenario) => scenario.name === name)
    if (found === undefined) throw new Error(`There are no requests ${name}.`)
    return {
      ...found,
      name: `${database.name}-${name}`,
      title: `${database.title}: ${found.title}`,
      tables: poolTables,
      servers: database.servers,
      goals: goalsOf(database, own),
    }
  })
}
