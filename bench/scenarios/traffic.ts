import { keyOf } from '../customer.ts'
import { members, poolTables } from '../database.ts'
import type { Dialect } from '../dialects.ts'
import { turns, type Goal, type HttpRequest, type LatencyGoal, type Scenario } from '../scenario.ts'
import { zipfRanks } from '../zipf.ts'
import { goalsOf, type PoolDatabase } from './pools.ts'
import { distinctItems, itemProbes, pageProbe } from './reads.ts'
import { updateOf, updateProbes } from './writes.ts'

const accounts = 100_000
const pages = 100
const mixture = 'item page item update item page item update item page'.split(' ')
// Prime to the number of rows, so that each rank has another row and the frequent rows are not neighbors.
const step = 7_919

function pairsOf({ pairs }: PoolDatabase) {
  return [pairs.open, pairs.keys]
}

function serversOf(database: PoolDatabase): string[] {
  return pairsOf(database).flatMap(({ own, of }) => [own, of])
}

function latencyGoals(
  database: PoolDatabase,
  percentiles: readonly LatencyGoal['percentile'][],
  factor: number,
): Goal[] {
  return pairsOf(database).flatMap((pair) =>
    percentiles.map((percentile) => ({ ...pair, percentile, factor })),
  )
}

/** Returns the scenario of distinct items with another number of connections than the others have. */
export function itemsAt(database: PoolDatabase, connections: number): Scenario {
  const places = connections === 1 ? 'one connection' : `${connections} connections`
  return {
    name: `${database.name}-items-${connections}`,
    title: `${database.title}: Read 2,000 distinct items in turn, ${places}`,
    tables: poolTables,
    servers: serversOf(database),
    connections,
    ...distinctItems('members', members),
    goals: connections === 1 ? latencyGoals(database, [50, 99], 1.1) : [],
  }
}

/** Returns the requests of a mixed load: of ten, five are items, three are pages and two are updates. */
function mixedRequests(dialect: Dialect): () => HttpRequest {
  const [nextRow, nextPage] = [zipfRanks(accounts), zipfRanks(pages)]
  const next = turns(0, mixture.length - 1)
  const row = () => 1 + ((nextRow() * step) % accounts)
  return () => {
    switch (mixture[next()]) {
      case 'update':
        return updateOf(dialect, 'accounts', row())
      case 'page':
        return { method: 'GET', path: dialect.list('accounts', { offset: 10 * (nextPage() - 1) }) }
      default:
        return { method: 'GET', path: dialect.item('accounts', keyOf(row())) }
    }
  }
}

/** Returns the scenario of a mixed load on a table in which some rows are requested far more often than others. */
export function mixedTraffic(database: PoolDatabase): Scenario {
  return {
    name: `${database.name}-mixed`,
    title: `${database.title}: 50 % items, 30 % pages, 20 % updates of 100,000 rows, some far more frequent`,
    tables: { accounts },
    servers: serversOf(database),
    probes: (dialect) => [
      pageProbe(dialect, 'accounts', { offset: 990 }, accounts),
      ...itemProbes(dialect, 'accounts', accounts),
      ...updateProbes(dialect, 'accounts'),
    ],
    load: mixedRequests,
    goals: [...goalsOf(database, { open: 1.3, keys: 1.8 }), ...latencyGoals(database, [99], 1)],
  }
}
