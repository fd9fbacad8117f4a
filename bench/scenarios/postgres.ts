import { onPostgres } from '../contestants.ts'
import type { RatioGoal, Scenario } from '../scenario.ts'
import { reads } from './reads.ts'
import { writes } from './writes.ts'

/** The goals by the scenario on SQLite that has the same requests. */
const goals = { 'read-page': 1.1, 'read-100': 1.3, 'read-item': 1.1, insert: 1.1 }

function goalOf(ratio: number): RatioGoal {
  return { own: 'rowgate-postgres', of: 'postgres-hand', ratio }
}

/** The reads and the insert on PostgreSQL. */
export const postgres: Scenario[] = Object.entries(goals).map(([name, ratio]) => {
  const scenario = [...reads, ...writes].find((one) => one.name === name) as Scenario
  return {
    ...scenario,
    name: `postgres-${name}`,
    title: `PostgreSQL: ${scenario.title}`,
    servers: onPostgres.map((contestant) => contestant.name),
    goals: [goalOf(ratio)],
  }
})
