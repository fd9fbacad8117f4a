import { outboxCollections, deliveryStates } from '../consume/outbox/collections.ts'
import { deliveryOf, detailsOf } from '../consume/outbox/delivery.ts'
import type { Outbox } from '../consume/outbox/outbox.ts'
import { defineCollection, type CollectionDefinition } from '../definition/collection.ts'
import { boolean, dateTime, instant, integer, json, text, uuid } from '../definition/field.ts'
import type { Principal } from '../definition/principal.ts'
import { error } from '../definition/validation.ts'
import { deploymentCollections, releaseStates } from '../deployment/collections.ts'
import type { Deployment } from '../deployment/deployment.ts'
import { asStorageCall } from '../events/units/storage-calls.ts'
import { equal, type Row } from '../request/query.ts'
import { administeredPart } from '../service-part.ts'
import { rightsOf, unfitRows, type Context } from './context.ts'
import { itemOf, pageOf, type ServedTable } from './pages.ts'

/** Returns the collection of the solutions of a deployment. */
export function solutionCollection(context: Context, deployment: Deployment): CollectionDefinition {
  return defineCollection(
    {
      description: 'The solutions whose releases can be built.',
      key: 'solutionId',
      eventRoles: rightsOf(context, 'solutions', ['Filter']),
      fields: {
        solutionId: text(),
        name: text({ required: true }),
        version: text({ required: true }),
        releaseNotes: text(),
        releaseDate: dateTime(),
      },
    },
    {
      serve: {
        filter: () =>
          deployment[administeredPart].solutions.map((one) => ({
            ...{ solutionId: one.solutionId, name: one.name, version: one.version },
            releaseNotes: one.releaseNotes ?? null,
            releaseDate: one.releaseDate ?? null,
          })),
      },
    },
  )
}

const { releases } = deploymentCollections
const releaseNames = [
  ...(['releaseId', 'solutionId', 'name', 'version', 'releaseNotes', 'releaseDate'] as const),
  ...(['status', 'snapshot', 'fileName', 'built', 'error', 'log'] as const),
]

/** Returns the collection of the builds of a deployment, with their errors and logs. */
export function buildCollection(context: Context, deployment: Deployment): CollectionDefinition {
  const table = (): ServedTable<object> => ({
    storage: deployment[administeredPart].storage(),
    collection: releases,
    where: [],
    stored: releaseNames,
    itemOf: (row) => Object.fromEntries(releaseNames.map((name) => [name, row[name] ?? null])),
    unfit: unfitRows(context, 'builds'),
  })
  return defineCollection(
    {
      description:
        'Releases with the results of their builds. An insert into release-queue builds.',
      key: 'releaseId',
      defaultSort: ['-releaseId'],
      eventRoles: rightsOf(context, 'builds', ['Filter']),
      fields: {
        releaseId: uuid(),
        solutionId: text({ required: true }),
        name: text({ required: true }),
        version: text({ required: true }),
        releaseNotes: text(),
        releaseDate: dateTime({ required: true }),
        status: text({ required: true, enumeration: releaseStates }),
        snapshot: boolean({ required: true }),
        fileName: text(),
        built: instant({ description: 'The time at which the build ended.' }),
        error: text({ description: 'The reason of the failure.' }),
        log: text({ itemOnly: true, description: 'The last lines of the build.' }),
      },
    },
    {
      serve: {
        filter: (call) => asStorageCall(call, () => pageOf(table(), call)) as never,
        get: (call) =>
          asStorageCall(call, () => itemOf(table(), equal('releaseId', call.key))) as never,
      },
    },
  )
}

const { deliveries } = outboxCollections
const deliveryNames = [
  ...(['id', 'endpoint', 'lane', 'state', 'failures', 'lost'] as const),
  ...(['created', 'due', 'ended', 'error'] as const),
]

interface DeliveryItem {
  readonly id: string
  readonly outbox: string
  readonly state: string
}

/** Returns the collection of the deliveries of outboxes. */
export function deliveryCollection(context: Context): CollectionDefinition {
  const { outboxes, roles } = context.options
  const names = [...outboxes.keys()]
  const contents = { itemOnly: true, readOnly: true, readableBy: [roles.administrator] } as const
  return defineCollection(
    {
      description: 'Calls of outboxes. An update to the state waiting retries; a delete drops.',
      key: 'id',
      defaultSort: ['-id'],
      ...(names.length > 1 && { requiredFilters: ['outbox' as const] }),
      eventRoles: rightsOf(context, 'deliveries', ['Filter', 'Update', 'Delete']),
      fields: {
        id: uuid(),
        outbox: text({ readOnly: true, search: false, enumeration: names }),
        endpoint: text({ readOnly: true }),
        lane: text({ readOnly: true }),
        state: text({ enumeration: deliveryStates }),
        failures: integer({ readOnly: true, description: 'The number of failed calls.' }),
        lost: integer({ readOnly: true, description: 'The number of lost workers.' }),
        created: instant({ readOnly: true }),
        due: instant({ readOnly: true }),
        ended: instant({ readOnly: true }),
        error: text({ readOnly: true, description: 'Why the last attempt failed.' }),
        attempts: integer(contents),
        idempotencyKey: text(contents),
        input: json(contents),
        row: json(contents),
        response: json({ ...contents, description: 'The last response that was not accepted.' }),
      },
    },
    {
      validations: deliveryRules as never,
      serve: {
        filter: (call) => asStorageCall(call, () => deliveryPage(context, call as never)) as never,
        get: (call) => asStorageCall(call, () => findDelivery(context, call.key)) as never,
        update: (call) =>
          asStorageCall(call, async () => {
            const outbox = outboxes.get(String(call.stored.outbox))
            await outbox
              ?.retry(call.key)
              .catch((problem: unknown) => changedMeanwhile(problem, call.reject))
            return findDelivery(context, call.key)
          }) as never,
        delete: (call) =>
          asStorageCall(call, async () => {
            const outbox = outboxes.get(String(call.stored.outbox))
            if (outbox === undefined) return false
            await outbox
              .drop(call.key)
              .catch((problem: unknown) => changedMeanwhile(problem, call.reject as never))
            return true
          }),
      },
    },
  )
}

const deliveryRules = [
  error<DeliveryItem>('retried-state', {
    field: 'state',
    events: ['Update'],
    check: ({ state }, { stored }) => {
      const before = stored?.state
      if (state !== 'waiting') return 'Set the state waiting to retry the delivery.'
      return before === 'dead' || before === 'waiting'
        ? undefined
        : 'Only a dead or waiting delivery can be retried.'
    },
  }),
  error<DeliveryItem>('dropped-state', {
    events: ['Delete'],
    check: (_, { stored }) =>
      stored?.state === 'sending' || stored?.state === 'delivered'
        ? 'A delivery that is being sent or was delivered cannot be dropped.'
        : undefined,
  }),
]

/** Rejects a change of a delivery that a worker has changed at the same time. */
function changedMeanwhile(problem: unknown, reject: (message: string) => never): never {
  const isOwn = problem instanceof Error && /\bdelivery\b/.test(problem.message)
  if (!isOwn) throw problem
  return reject('The delivery was changed at the same time. Try again.')
}

function deliveryTable(
  context: Context,
  [name, outbox]: readonly [string, Outbox],
): ServedTable<object> {
  return {
    storage: outbox[administeredPart].storage(),
    collection: deliveries,
    where: [],
    stored: deliveryNames,
    // The page is one of this outbox.
    condition: (field) => (field === 'outbox' ? { is: 'and', conditions: [] } : undefined),
    itemOf: (row) => deliveryItem(name, row),
    unfit: unfitRows(context, 'deliveries'),
  }
}

function deliveryPage(
  context: Context,
  call: Parameters<typeof pageOf>[1] & { readonly principal: Principal },
) {
  const { outboxes } = context.options
  const [only] = outboxes
  const wanted =
    outboxes.size > 1 ? call.conditions['outbox'] : (call.conditions['outbox'] ?? only?.[0])
  const outbox = outboxes.get(String(wanted))
  return outbox === undefined ? [] : pageOf(deliveryTable(context, [String(wanted), outbox]), call)
}

async function findDelivery(context: Context, id: string): Promise<object | undefined> {
  for (const entry of context.options.outboxes) {
    const found = await itemOf(deliveryTable(context, entry), equal('id', id))
    if (found !== undefined) return found
  }
  return undefined
}

function deliveryItem(outbox: string, row: Row): object {
  const { attempts, key, input, row: own, response } = detailsOf(deliveryOf(row))
  return {
    ...Object.fromEntries(deliveryNames.map((name) => [name, row[name] ?? null])),
    outbox,
    ...{ attempts, idempotencyKey: key, input, row: own, response },
  }
}
