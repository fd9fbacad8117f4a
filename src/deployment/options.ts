import * as z from 'zod/mini'
import type { IdempotencyKeys } from '../definition/application.ts'
import { idempotencyKeys } from '../definition/shape.ts'
import { isDateTime } from '../definition/value-forms.ts'
import { inspectApplications } from '../definition/check.ts'
import { mistaken } from '../checks/mistakes.ts'
import {
  clock,
  code,
  objectWith,
  text,
  timerMilliseconds,
  wholeNumber,
} from '../checks/option-shapes.ts'
import { inspectOptions } from '../checks/options.ts'
import type { BuildEvent } from './build-event.ts'
import type { Builder } from './builder.ts'
import type { EnvironmentRecord } from './environment.ts'
import type { BuildQueue } from './queue.ts'
import type { Solution } from './solution.ts'

/** The options of {@link createDeployment}. Times are in milliseconds, sizes in bytes. */
export interface DeploymentOptions {
  /** The solutions that can be built. */
  readonly solutions: readonly Solution[]
  readonly builder: Builder
  /** The environment that the service runs in, returned by the metadata endpoint. */
  readonly environment: Pick<EnvironmentRecord, 'environmentId' | 'name' | 'url'> &
    Partial<Omit<EnvironmentRecord, 'authenticationType'>>
  /**
   * How many builds run in this process at a time, from the queue and from requests together. With 0 this process takes
   * no builds from the queue, and requests build one at a time. Default 1.
   */
  readonly workers?: number
  /** Whether a solution builds one release at a time. Default false. */
  readonly serial?: boolean
  /**
   * How many builds may wait, in the queue and in requests together. Further requests get the response
   * 429. Default 1000.
   */
  readonly queueLimit?: number
  /**
   * How many releases of one solution may be open: queued, waiting in a request, or being built. A further one is a
   * rejected save. Default 200.
   */
  readonly maxOpenReleases?: number
  /** How long one build may take. Default 600000. */
  readonly buildTimeout?: number
  /**
   * How long a request waits for its build. Then the response is 503, and the build continues. Default
   * 120000.
   */
  readonly waitTimeout?: number
  /** How long a build may go without a heartbeat before it is queued again. Default 30000. */
  readonly lease?: number
  /** How many workers may die during the build of a release before it fails. Default 3. */
  readonly attempts?: number
  /** The interval at which workers poll for builds that other processes have queued. Default 1000. */
  readonly pollInterval?: number
  /** The maximum size of a package. Default 67108864 (64 MiB). */
  readonly packageLimit?: number
  /** The collections whose data a snapshot includes, as `application/collection`. Default: none. */
  readonly snapshotData?: readonly string[]
  /** Whether a build with the header `Idempotency-Key` is started once, as in an application. Default: false. */
  readonly idempotencyKeys?: boolean | IdempotencyKeys
  /** A build queue that replaces the queue in storage. */
  readonly queue?: BuildQueue
  /** Called for each build event in this process. */
  readonly watch?: (event: BuildEvent) => void
  /** Default: the system's clock. */
  readonly now?: () => Date
}

/** The options with their defaults filled in. */
export type CompleteDeployment = Required<Omit<DeploymentOptions, 'queue' | 'environment'>> & {
  readonly environment: Omit<EnvironmentRecord, 'authenticationType'>
  readonly queue?: BuildQueue | undefined
}

const solution = z.strictObject({
  solutionId: text(64).check(
    z.regex(/^[A-Za-z0-9._~-]+$/, 'must consist of letters, digits and . _ ~ -'),
  ),
  name: text(200),
  version: text(64),
  releaseNotes: z.nullish(z.string()),
  releaseDate: z.optional(
    z
      .string()
      .check(
        z.refine(
          isDateTime,
          'must be a date and time without a time zone, such as 2026-03-01T00:00:00',
        ),
      ),
  ),
  applications: z.record(z.string(), z.unknown()),
})

const shape = z.strictObject({
  solutions: z.array(solution).check(
    z.minLength(1),
    z.refine((all) => new Set(all.map(({ solutionId }) => solutionId)).size === all.length, {
      error: 'must have unique solutionIds',
    }),
  ),
  builder: objectWith<Builder>('build', 'must be a builder, for instance definitionBuilder()'),
  environment: z.strictObject({
    environmentId: text(200),
    name: text(200),
    url: z.url(),
    supportsDeployment: z._default(z.boolean(), true),
    supportsInstallOnDeploy: z._default(z.boolean(), false),
  }),
  workers: z._default(wholeNumber(0, 64), 1),
  serial: z._default(z.boolean(), false),
  queueLimit: z._default(wholeNumber(1), 1_000),
  maxOpenReleases: z._default(wholeNumber(1), 200),
  buildTimeout: z._default(timerMilliseconds, 600_000),
  waitTimeout: z._default(timerMilliseconds, 120_000),
  lease: z._default(wholeNumber(100, 2 ** 31 - 1), 30_000),
  attempts: z._default(wholeNumber(1), 3),
  pollInterval: z._default(timerMilliseconds, 1_000),
  packageLimit: z._default(wholeNumber(1, 256 * 1024 * 1024), 64 * 1024 * 1024),
  snapshotData: z._default(
    z.array(
      z.string().check(
        z.regex(/^[^/]+\/[^/]+$/, 'must be application/collection'),
        z.refine((path) => !/^rowgate-/i.test(path), 'must not be an internal collection'),
      ),
    ),
    [],
  ),
  idempotencyKeys: z._default(idempotencyKeys, false),
  queue: z.optional(objectWith<BuildQueue>('process', 'must be a build queue')),
  watch: z._default(code<(event: BuildEvent) => void>(), () => () => undefined),
  now: clock,
})

/**
 * Checks the options of deployment and the definitions of its solutions. Throws one TypeError that
 * lists every mistake.
 */
export function completeDeployment(options: DeploymentOptions): CompleteDeployment {
  const { complete, mistakes } = inspectOptions('deployment', shape, options)
  const { solutions } = Object(options) as { readonly solutions?: unknown }
  const definitions = (Array.isArray(solutions) ? solutions : []).flatMap(
    (solution: unknown, index) => {
      const { applications } = Object(solution) as Partial<Solution>
      if (typeof applications !== 'object') return []
      return inspectApplications(applications).mistakes.map(({ place, advice }) => ({
        place: `deployment.solutions.${index}.${place}`,
        advice,
      }))
    },
  )
  const all = [...mistakes, ...definitions]
  if (complete === undefined || all.length > 0) throw mistaken(all)
  return complete as unknown as CompleteDeployment
}
