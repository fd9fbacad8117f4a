import { defineCollection } from '../definition/collection.ts'
import { boolean, dateTime, instant, text, uuid } from '../definition/field.ts'
import type { AfterSave, BeforeInsert } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import { orderedId } from '../definition/ordered-id.ts'
import { deploymentMark } from '../definition/mistakes/reserved-names.ts'
import type { DeploymentApplication, ServiceFacts } from '../definition/service-facts.ts'
import { error } from '../definition/validation.ts'
import { asStorageCall } from '../events/units/storage-calls.ts'
import { defaultServiceVersion } from '../protocol/names.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { servicePart, type ServicePart, type WithServicePart } from '../service-part.ts'
import type { BuildRequest } from './builds.ts'
import { releaseStates } from './collections.ts'
import type { EnvironmentRecord } from './environment.ts'
import type { CompleteDeployment } from './options.ts'
import { byDateAndBuild } from './published-releases.ts'
import { OpenReleasesError } from './open-limit.ts'
import type { Solution } from './solution.ts'
import type { StartedDeployment } from './start.ts'

/** The endpoint names of the collections of deployment. */
export const endpoints = {
  release: 'release',
  queue: 'release-queue',
  metadata: 'metadata',
} as const

/** What the application of deployment uses. */
export interface ApplicationDependencies extends Pick<
  CompleteDeployment,
  'environment' | 'waitTimeout' | 'idempotencyKeys' | 'now'
> {
  readonly solutions: ReadonlyMap<string, Solution>
  /** Connects deployment with the service that publishes the application. */
  readonly part: ServicePart
  /** Returns the running deployment. Throws a TypeError before there is a service. */
  readonly started: () => StartedDeployment
}

// A build that takes too long responds 503 itself, and storage may need some time after it.
const graceTime = 60_000

const internal = { readableBy: [], readOnly: true } as const

/**
 * Returns the application of deployment: releases, the queue of their builds, and the environment. The
 * service version decides which of these collections exist.
 */
export function deploymentApplication(
  dependencies: ApplicationDependencies,
  {
    serviceVersion,
    authenticationType,
  }: Pick<ServiceFacts, 'serviceVersion' | 'authenticationType'> = unknownService,
): DeploymentApplication & WithServicePart {
  const record = {
    ...dependencies.environment,
    authenticationType: authenticationType ?? 'api_key',
  }
  return Object.freeze({
    [deploymentMark]: (facts: ServiceFacts) => deploymentApplication(dependencies, facts),
    [servicePart]: dependencies.part,
    description: 'Builds releases, delivers their packages, and describes the environment.',
    roles: ['Deployment'],
    idempotencyKeys: dependencies.idempotencyKeys,
    collections: Object.freeze({
      ...(isAtLeast(serviceVersion, 4, 52) && {
        [endpoints.release]: releaseCollection(dependencies),
        [endpoints.queue]: queueCollection(dependencies),
      }),
      ...(isAtLeast(serviceVersion, 4, 54) && {
        [endpoints.metadata]: environmentCollection(record),
      }),
    }),
  })
}

// Until a service publishes the application.
const unknownService = {
  serviceVersion: defaultServiceVersion,
  authenticationType: undefined,
} as const

function environmentCollection(record: EnvironmentRecord) {
  return defineCollection(
    {
      description: 'The environment that this service runs in.',
      singleton: true,
      fields: {
        environmentId: text({ required: true }),
        name: text({ required: true }),
        url: text({ required: true }),
        supportsDeployment: boolean({ required: true }),
        supportsInstallOnDeploy: boolean({ required: true }),
        authenticationType: text({ required: true }),
      },
    },
    { serve: { get: () => record } },
  )
}

function releaseCollection(dependencies: ApplicationDependencies) {
  const { started, waitTimeout } = dependencies
  return defineCollection(
    {
      description: 'Releases. An insert builds a release and responds when the build has ended.',
      key: 'releaseId',
      defaultSort: ['-releaseDate'],
      requiredFilters: ['solutionId'],
      fields: {
        ...facts(dependencies),
        status: text({ ...hidden, enumeration: releaseStates }),
        fileName: text({ ...hidden, itemOnly: true }),
        file: text({ ...hidden, itemOnly: true, description: 'The package in base64.' }),
        snapshot: boolean({ includeByDefault: false, default: false }),
        built: instant(internal),
        error: text(internal),
      },
    },
    {
      ...insertion(dependencies, 'building', (event) => {
        if (event.item['status'] === 'failed')
          event.fail(`The build failed. ${String(event.item['error'])}`)
      }),
      serve: {
        timeout: waitTimeout + graceTime,
        filter: (call) =>
          asStorageCall(call, () =>
            started().releases.page({ ...call, sort: byDateAndBuild(call.sort) }),
          ),
        get: (call) => asStorageCall(call, () => started().releases.get(call.key, call.fields)),
        insert: (call) =>
          insertOf(call, () => started().builds.buildNow(call.item as BuildRequest)),
      },
    },
  )
}

function queueCollection(dependencies: ApplicationDependencies) {
  const { started } = dependencies
  return defineCollection(
    {
      description: 'Queued builds. An insert queues a build; an item shows its state.',
      key: 'releaseId',
      defaultSort: ['-releaseDate'],
      requiredFilters: ['solutionId'],
      fields: {
        ...facts(dependencies),
        status: text({ readOnly: true, enumeration: releaseStates }),
        snapshot: boolean({ default: false }),
      },
    },
    {
      ...insertion(dependencies, 'queued'),
      serve: {
        filter: (call) => asStorageCall(call, () => started().releases.page(call)),
        get: (call) => asStorageCall(call, () => started().releases.get(call.key, call.fields)),
        insert: (call) => insertOf(call, () => started().builds.enqueue(call.item as BuildRequest)),
      },
    },
  )
}

/** Runs an insert. Too many open releases of the solution are a rejected save. */
function insertOf<Result>(
  call: { reject(message: string, field: 'solutionId'): never },
  work: () => Promise<Result>,
): MaybePromise<Result> {
  return asStorageCall(call, async () => {
    try {
      return await work()
    } catch (problem) {
      if (problem instanceof OpenReleasesError) call.reject(problem.message, 'solutionId')
      throw problem
    }
  })
}

const hidden = { includeByDefault: false, readOnly: true } as const

function facts({ now }: ApplicationDependencies) {
  return {
    releaseId: uuid({ readOnly: true, default: () => orderedId(now()) }),
    solutionId: text({ required: true, maxLength: 64 }),
    name: text({ readOnly: true }),
    version: text({ minLength: 1, maxLength: 64 }),
    releaseNotes: text({ maxLength: 100_000 }),
    releaseDate: dateTime(),
  }
}

function insertion(
  { solutions, now }: ApplicationDependencies,
  status: 'building' | 'queued',
  after?: (event: AfterSave<CollectionShape>) => void,
) {
  // Fields that are absent in the request have the values of the solution.
  const before = ({ item: given }: BeforeInsert<CollectionShape>): void => {
    const item = given as Record<string, unknown>
    const solution = solutions.get(String(item['solutionId']))
    if (solution === undefined) return
    item['name'] = solution.name
    item['status'] = status
    item['snapshot'] ??= false
    item['version'] ??= solution.version
    item['releaseNotes'] ??= solution.releaseNotes ?? null
    item['releaseDate'] ??= solution.releaseDate ?? `${now().toISOString().slice(0, 10)}T00:00:00`
  }
  const isKnown = error('known-solution', {
    field: 'solutionId',
    // If solutionId is missing, the field reports it (`required`).
    check: ({ solutionId }: { readonly solutionId?: string | null }) =>
      (solutionId ?? null) === null || solutions.has(String(solutionId))
        ? undefined
        : 'There is no such solution.',
  })
  return {
    validations: [isKnown],
    events: { Insert: { before, ...(after !== undefined && { after }) } },
  } as const
}

function isAtLeast(version: string | false, major: number, minor: number): boolean {
  if (version === false) return true
  const [first = 0, second = 0] = version.split('.').map(Number)
  return first > major || (first === major && second >= minor)
}
