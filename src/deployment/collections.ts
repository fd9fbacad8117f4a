import type { ApplicationDefinitions } from '../definition/application.ts'
import { defineCollection } from '../definition/collection.ts'
import { boolean, dateTime, instant, integer, text, uuid } from '../definition/field.ts'
import { publishCollection } from '../definition/published.ts'
import type { ReleaseStatus } from './release.ts'

/** The internal application of the stored collections. It is not published. */
const application = 'rowgate-deployment'

/** The states of a release. */
export const releaseStates = [
  'queued',
  'building',
  'built',
  'failed',
] as const satisfies readonly ReleaseStatus[]

const releases = defineCollection({
  key: 'releaseId',
  table: 'rowgate_releases',
  description: 'Releases. A row is also the job in the build queue.',
  index: [
    ['status', 'releaseId'],
    ['solutionId', 'status'],
  ],
  fields: {
    releaseId: uuid(),
    solutionId: text({ required: true }),
    name: text({ required: true }),
    version: text({ required: true }),
    releaseNotes: text(),
    releaseDate: dateTime({ required: true }),
    status: text({ required: true, enumeration: releaseStates }),
    fileName: text(),
    snapshot: boolean({ required: true }),
    built: instant({ description: 'The time at which the build ended.' }),
    error: text({ description: 'The reason of the failure, for clients.' }),
    log: text({ description: 'The last lines of the build.' }),
    attempt: integer({
      required: true,
      description: 'The number of claims. Stale workers are recognized by it.',
    }),
    heartbeat: integer({
      required: true,
      description: 'The number of heartbeats of the attempt.',
    }),
    lost: integer({
      required: true,
      description: 'The number of workers that died during the build.',
    }),
  },
})

const packages = defineCollection({
  key: ['releaseId', 'part'],
  table: 'rowgate_packages',
  description: 'The packages of built releases, in parts of 1 MiB at most.',
  fields: {
    releaseId: uuid(),
    part: integer({ description: 'The position of the part, from 0.' }),
    file: text({ required: true, description: 'In base64.' }),
    bytes: integer({ required: true }),
    sha256: text({ required: true, description: 'In hexadecimal digits.' }),
  },
})

const snapshots = defineCollection({
  key: 'releaseId',
  table: 'rowgate_snapshots',
  description: 'The snapshots that were taken before builds.',
  fields: {
    releaseId: uuid(),
    files: text({ required: true, description: 'A JSON object: file contents by path.' }),
  },
})

const buildLocks = defineCollection({
  key: 'solutionId',
  table: 'rowgate_build_locks',
  description:
    'One row per solution with serial builds, and * for the queue. Each claim of a build, and each queued build, increments the version.',
  fields: { solutionId: text(), version: integer({ required: true }) },
})

const collections = Object.freeze({ releases, packages, snapshots, buildLocks })

/**
 * The tables of deployment, for applications that create their tables themselves:
 * `sqliteSchema({ ...applications, ...deploymentTables })`.
 */
export const deploymentTables: ApplicationDefinitions = Object.freeze({
  [application]: Object.freeze({ collections }),
})

/** The stored collections of deployment. */
export const deploymentCollections = Object.freeze({
  releases: publishCollection(application, 'releases', releases),
  packages: publishCollection(application, 'packages', packages),
  snapshots: publishCollection(application, 'snapshots', snapshots),
  buildLocks: publishCollection(application, 'buildLocks', buildLocks),
})
