import { defineCollection, type CollectionDefinition } from '../definition/collection.ts'
import { boolean, integer, json, text } from '../definition/field.ts'
import { deploymentCollections, releaseStates } from '../deployment/collections.ts'
import type { Deployment } from '../deployment/deployment.ts'
import { asStorageCall } from '../events/units/storage-calls.ts'
import { administeredPart } from '../service-part.ts'
import type { StorageProblem } from '../storage/problem.ts'
import { allKeys } from '../security/keys/request-counter.ts'
import { readRequests } from '../security/keys/request-counts.ts'
import { tableReader } from '../storage/table.ts'
import { rightsOf, type Context } from './context.ts'

/** Returns the collection of what the service counts. */
export function statisticsCollection(context: Context): CollectionDefinition {
  return defineCollection(
    {
      description: 'What the service counts.',
      singleton: true,
      eventRoles: rightsOf(context, 'statistics', ['Filter']),
      fields: {
        cache: json({ description: 'The response cache.' }),
        connections: json({ required: true, description: 'The pools of connections: a list.' }),
        deliveries: json({ description: 'The deliveries of each outbox, by state.' }),
        builds: json({ description: 'The builds by state.' }),
        requests: json({
          description: 'The requests of all keys by day of UTC: a list, the oldest day first.',
        }),
        isDurable: boolean({ required: true, description: 'Whether rows outlive the process.' }),
      },
    },
    { serve: { get: (call) => asStorageCall(call, () => statisticsOf(context)) } },
  )
}

async function statisticsOf({ host, facts, options: { deployment, outboxes } }: Context) {
  const { cache, connections } = host().service.statistics()
  const deliveries: Record<string, unknown> = {}
  for (const [name, outbox] of outboxes)
    deliveries[name] = (await outbox[administeredPart].workload()).deliveries
  return {
    cache: plain(cache),
    connections: plain(connections),
    deliveries: outboxes.size === 0 ? null : plain(deliveries),
    builds: deployment === undefined ? null : plain(await countBuilds(deployment)),
    requests: facts.hasKeys
      ? plain(await readRequests(host().storage, allKeys, host().now()))
      : null,
    isDurable: host().service.isDurable,
  }
}

async function countBuilds(deployment: Deployment): Promise<Readonly<Record<string, number>>> {
  const table = tableReader(deployment[administeredPart].storage(), deploymentCollections.releases)
  const counts: Record<string, number> = {}
  for (const status of releaseStates) counts[status] = await table.count({ status })
  return counts
}

/** Returns a value as its JSON says. */
function plain(value: unknown): never {
  return JSON.parse(JSON.stringify(value)) as never
}

const inspectedAgainAfter = 60_000
const maxProblems = 1_000
const problemKinds = 'table, unfit, reference, duplicate, order or condition.'

/** Returns the collection of tables and rows that can't be published. All rows are read at most once a minute. */
export function problemCollection(context: Context): CollectionDefinition {
  let last: Promise<readonly StorageProblem[]> | undefined
  // The time at which it ended; undefined while it runs.
  let ended: number | undefined
  const time = () => context.host().now().getTime()

  function inspect(): Promise<readonly StorageProblem[]> {
    const isRecent = ended === undefined || time() - ended < inspectedAgainAfter
    if (last !== undefined && isRecent) return last
    ended = undefined
    last = context.host().service.inspect()
    last.then(
      () => (ended = time()),
      () => (last = undefined),
    )
    return last
  }

  return defineCollection(
    {
      description:
        'Tables and rows that cannot be published. Reads all rows, at most once a minute.',
      key: 'number',
      eventRoles: rightsOf(context, 'problems', ['Filter']),
      fields: {
        number: integer(),
        kind: text({ required: true, description: problemKinds }),
        collection: text({ required: true, description: 'application/collection.' }),
        fields: json({ required: true, description: 'The names of the fields: a list.' }),
        message: text({ required: true }),
        count: integer({ description: 'The number of affected items.' }),
        examples: json({
          required: true,
          readableBy: [context.options.roles.administrator],
          description: 'Up to three affected items, with their values: a list.',
        }),
      },
    },
    {
      serve: {
        timeout: 10 * inspectedAgainAfter,
        filter: (call) =>
          asStorageCall(call, async () =>
            (await inspect()).slice(0, maxProblems).map((problem, index) => ({
              number: index + 1,
              ...{
                kind: problem.kind,
                collection: problem.collection,
                fields: [...problem.fields],
              },
              ...{ message: problem.message, count: problem.count },
              examples: [...problem.examples],
            })),
          ),
      },
    },
  )
}
