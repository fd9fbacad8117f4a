import type { ApplicationDefinitions } from '../definition/application.ts'
import { defineCollection } from '../definition/collection.ts'
import { boolean, dateTime, instant, integer, text, uuid } from '../definition/field.ts'
import { publishCollection } from '../definition/published.ts'

/** The application whose collections hold what deployment keeps. No request can reach it. */
const application = 'rowgate-deployment'

/** The states of a release (section 3). */
export const releaseStates = ['queued', 'building', 'built', 'failed'] as const

const releases = defineCollection({
  key: 'releaseId',
  table: 'rowgate_releases',
  description: 'Releases, and the queue of their builds: the row is the job.',
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
    built: instant({ description: 'When the build ended.' }),
    error: text({ description: 'Why it failed, for consumers.' }),
    log: text({ description: 'The last lines of the build.' }),
    attempt: integer({
      required: true,
      description: 'Counts claims; it fences off stale workers.',
    }),
    beat: integer({ required: true, description: 'Counts the heartbeats of the attempt.' }),
    lost: integer({ required: true, description: 'How many workers have died over it.' }),
  },
})

const packages = defineCollection({
  key: ['releaseId', 'part'],
  table: 'rowgate_packages',
  description: 'The packages of releases that are built, in parts that every database takes.',
  fields: {
    releaseId: uuid(),
    part: integer({ description: 'From 0.' }),
    file: text({ required: true, description: 'In base64.' }),
    bytes: integer({ required: true }),
    sha256: text({ required: true, description: 'In hexadecimal digits.' }),
  },
})

const snapshots = defineCollection({
  key: 'releaseId',
  table: 'rowgate_snapshots',
  description: 'What there was before a build.',
  fields: {
    releaseId: uuid(),
    files: text({ required: true, description: 'A JSON object of texts by path.' }),
  },
})

const turns = defineCollection({
  key: 'solutionId',
  table: 'rowgate_build_turns',
  description: 'Whoever claims a build of a solution that builds one at a time changes its row.',
  fields: { solutionId: text(), turn: integer({ required: true }) },
})

const collections = Object.freeze({ releases, packages, snapshots, turns })

/**
 * What deployment needs in storage, for hosts that make their tables themselves:
 * `sqliteSchema({ ...applications, ...deploymentTables })`.
 */
export const deploymentTables: ApplicationDefinitions = Object.freeze({
  [application]: Object.freeze({ collections }),
})

/** The collections of deployment, published to storage only. */
export const deploymentCollections = Object.freeze({
  releases: publishCollection(application, 'releases', releases),
  packages: publishCollection(application, 'packages', packages),
  snapshots: publishCollection(application, 'snapshots', snapshots),
  turns: publishCollection(application, 'turns', turns),
})
