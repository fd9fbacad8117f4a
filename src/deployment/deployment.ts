import * as z from 'zod/mini'
import { wholeNumber } from '../checks/option-shapes.ts'
import type { ApplicationDefinition } from '../definition/application.ts'
import { completeOptions } from '../checks/options.ts'
import { guardedListener } from '../observation/reports.ts'
import { administeredPart, type AdministeredPart, type ServicePart } from '../service-part.ts'
import { deploymentApplication } from './application.ts'
import type { BuildEvent } from './build-event.ts'
import { deploymentCollections } from './collections.ts'
import { completeDeployment, type DeploymentOptions } from './options.ts'
import type { QueueWorker } from './queue.ts'
import type { Solution } from './solution.ts'
import { startDeployment, type StartedDeployment } from './start.ts'

/** The application and the workers of deployment. */
export interface Deployment {
  /**
   * The application of deployment. Spread it into the applications of the service, which publishes it
   * under its own brand prefix (`svc-deploy` by default) and according to its own service version. The
   * service keeps the releases in its storage.
   */
  readonly applications: Readonly<Record<'svc-deploy', ApplicationDefinition>>
  /** Starts another worker of the queue in this process. Throws a TypeError before there is a service. */
  work(options?: { readonly concurrency?: number }): QueueWorker
  /** Calls `listener` for each build event in this process, until the returned function is called. */
  watch(listener: (event: BuildEvent) => void): () => void
  /** For the administration of rowgate. */
  readonly [administeredPart]: AdministeredDeployment
}

/** A deployment, for administration. */
export interface AdministeredDeployment extends AdministeredPart {
  readonly solutions: readonly Solution[]
  /** The name of the environment. */
  readonly environment: string
}

/**
 * Creates the application that builds and delivers releases; see docs/guides/deployment.md. Throws a
 * TypeError that lists every mistake in the options.
 *
 * ```ts
 * const deployment = createDeployment({ solutions, environment, builder: definitionBuilder() })
 * const service = createService({
 *   applications: { ...applications, ...deployment.applications },
 *   storage,
 *   security: apiKeys({ name: 'API Key' }),
 * })
 * ```
 */
export function createDeployment(given: DeploymentOptions): Deployment {
  const options = completeDeployment(given)
  const listeners = new Set([guardedListener(options.watch)])
  const emit = (event: BuildEvent): void => {
    for (const listen of listeners) listen(event)
  }
  const solutions = new Map(options.solutions.map((solution) => [solution.solutionId, solution]))
  const state: { started?: StartedDeployment; isOpen: boolean } = { isOpen: false }
  const started = (): StartedDeployment => {
    if (state.started !== undefined) return state.started
    throw new TypeError('deployment: publish deployment.applications with createService first')
  }
  let closing: Promise<unknown> | undefined
  const part: ServicePart = {
    collections: Object.values(deploymentCollections),
    join: (host) => {
      if (state.isOpen) throw new TypeError('deployment: another service publishes it already')
      state.started = startDeployment(options, { host, solutions, emit })
    },
    opened: () => {
      if (closing !== undefined) return
      state.isOpen = true
      if (options.workers > 0) started().workers.work(options.workers)
    },
    workload: async () => ({ builds: await started().load() }),
    close: async () => {
      const { builds, workers } = started()
      await (closing ??= Promise.all([builds.close(), workers.stop()]))
    },
  }
  return {
    applications: {
      'svc-deploy': deploymentApplication({ ...options, solutions, part, started }),
    },
    work: (chosen = {}) => {
      const { concurrency } = completeOptions('work', workShape, chosen)
      return started().workers.work(concurrency)
    },
    [administeredPart]: {
      solutions: options.solutions,
      environment: options.environment.name,
      storage: () => started().storage,
      workload: part.workload,
    },
    watch: (listener) => {
      const listen = guardedListener(listener)
      listeners.add(listen)
      return () => {
        listeners.delete(listen)
      }
    },
  }
}

const workShape = z.strictObject({
  concurrency: z._default(wholeNumber(1, 64), 1),
})
