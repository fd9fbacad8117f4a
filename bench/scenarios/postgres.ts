import { onPostgres } from '../contestants.ts'
import type { RatioGoal, Scenario } from '../scenario.ts'
import { reads } from './reads.ts'
import { writes } from './writes.ts'

/** The scenarios on SQLite that have the same requests, and their goals. Distinct reads share no statements. */
const goals: Readonly<Record<string, number | undefined>> = {
  'read-page': 1.1,
  'read-pages': undefined,
  'read-100': 1.3,
  'read-item': 1.1,
  'read-items': undefined,
  insert: 1.1,
}

function goalOf(ratio: number): RatioGoal {
  return { own: 'rowgate-postgres', of: 'postgres-hand', ratio, floor: 'postgres-json' }
}

/** The reads and the insert on PostgreSQL. */
export const postgres: Scenario[] = Object.entries(goals).map(([name, ratio]) => {
  const scenario = [...reads, ...writes].find((one) => one.name === name) as Scenario
  return {
    ...scenario,
    name: `postgres-${name}`,
    title: `PostgreSQL: ${scenario.title}`,
    servers: onPostgres.map((contestant) => contestant.name),
    goals: ratio === undefined ? [] : [goalOf(ratio)],
  }
})
