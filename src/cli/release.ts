import type { ReleaseClient, ListedRelease, QueuedRelease } from '../client/release-client.ts'
import { RequestError } from '../client/send-request.ts'
import { compact, requiredOf, wholeOf, type CommandContext, type Given } from './command.ts'
import { openProgress, type Progress } from './progress.ts'
import { CommandError, UsageError } from './command-error.ts'
import { openReleases } from './release-access.ts'
import { placeFor, saveFile, type SavedFile } from './save-file.ts'
import type { Column } from './table.ts'
import { printable } from './text.ts'
import { setTimeout as pause } from 'node:timers/promises'

/** Runs `rowgate release build`. */
export async function buildRelease(given: Given, context: CommandContext): Promise<void> {
  const solutionId = requiredOf(given, 'solution', 'id')
  const seconds = given.one('timeout')
  if (!given.has('wait') && (seconds ?? given.one('out')) !== undefined)
    throw new UsageError('--timeout and --out require --wait.')
  const number = { name: 'timeout', unit: 'seconds', minimum: 1, maximum: 604_800 }
  const timeout = 1_000 * wholeOf(seconds ?? '1800', number)
  const place = await outPlace(given, context)
  const stopping = context.stopping()
  const client = await openReleases(given, context, stopping)
  const request = compact({
    solutionId,
    version: given.one('version'),
    releaseNotes: given.one('notes'),
    snapshot: given.has('snapshot') ? true : undefined,
  })
  const queued = await client.queue(request).catch((error: unknown) => {
    throw stopping.aborted ? new CommandError('Stopped. The build may have been queued.') : error
  })
  const { releaseId, name, version } = queued
  if (!given.has('wait')) {
    context.result(queued, () => printable(releaseId))
    context.note(printable(`The build of ${name} ${version} is queued.`))
    return
  }
  const progress = openProgress(context)
  const ended = await waitForBuild(client, queued, { timeout, stopping, progress })
  if (ended.status === 'failed') {
    context.result(ended, () => printable(releaseId))
    throw new CommandError(`The build of ${name} ${version} failed.`)
  }
  const saved = place === undefined ? undefined : await save(client, { releaseId, place })
  context.result({ ...ended, ...saved }, () => printable(releaseId))
  context.note(printable(`Built ${name} ${version}.`))
  if (saved !== undefined) context.note(`${saved.sha256}  ${printable(saved.file)}`)
}

/** Runs `rowgate release list`. */
export async function listReleases(given: Given, context: CommandContext): Promise<void> {
  const solutionId = requiredOf(given, 'solution', 'id')
  const client = await openReleases(given, context)
  context.table(releaseColumns, await client.list(solutionId), 'No releases.')
}

/** Runs `rowgate release get`. */
export async function getRelease(given: Given, context: CommandContext): Promise<void> {
  const releaseId = given.argument
  if (releaseId === undefined || releaseId === '')
    throw new UsageError('Missing argument: <releaseId>. The command release list shows it.')
  const place = await placeFor(requiredOf(given, 'out', 'file'), context.workingFolder)
  const client = await openReleases(given, context)
  const saved = await save(client, { releaseId, place, solutionId: given.one('solution') })
  context.result({ releaseId, ...saved }, () => `${saved.sha256}  ${printable(saved.file)}`)
}

async function outPlace(given: Given, context: CommandContext): Promise<string | undefined> {
  const file = given.one('out')
  return file === undefined ? undefined : placeFor(file, context.workingFolder)
}

async function save(
  client: ReleaseClient,
  wanted: {
    readonly releaseId: string
    readonly place: string
    readonly solutionId?: string | undefined
  },
): Promise<SavedFile> {
  const { file, status } = await client.release(wanted.releaseId, wanted.solutionId)
  if (file === null) throw new CommandError(`The release has no package. Its status is ${status}.`)
  const bytes = Buffer.from(file, 'base64')
  if (bytes.toString('base64') !== file)
    throw new RequestError(
      'unavailable',
      'The received package is damaged: it is not valid base64.',
    )
  return saveFile(wanted.place, bytes)
}

const releaseColumns: readonly Column<ListedRelease>[] = [
  { title: 'RELEASE ID', text: ({ releaseId }) => releaseId, whole: true },
  { title: 'VERSION', text: ({ version }) => version },
  { title: 'NAME', text: ({ name }) => name },
  { title: 'DATE', text: ({ releaseDate }) => releaseDate.slice(0, 16).replace('T', ' ') },
  { title: 'NOTES', text: ({ releaseNotes }) => releaseNotes ?? '-', spare: true },
]

/** How long a command waits for a build. */
interface WaitOptions {
  /** The maximum time to wait, in milliseconds. */
  readonly timeout: number
  readonly stopping: AbortSignal
  readonly progress: Progress
}

const minPauseMilliseconds = 250
const maxPauseMilliseconds = 5_000
// A service is unavailable while it restarts.
const maxFailures = 8

/**
 * Waits until a build has ended, built or failed. Throws a RequestError if that takes too long or the
 * service is unavailable for too long, and a CommandError if interrupted. The build continues in any case.
 */
async function waitForBuild(
  client: ReleaseClient,
  release: QueuedRelease,
  { timeout, stopping, progress }: WaitOptions,
): Promise<QueuedRelease> {
  const { releaseId } = release
  const until = performance.now() + timeout
  let [last, failures, wait] = [release, 0, minPauseMilliseconds]
  try {
    for (;;) {
      progress.show(failures === 0 ? last.status : `${last.status}, retrying`)
      if (last.status === 'built' || last.status === 'failed') return last
      const left = until - performance.now()
      if (left <= 0) {
        const seconds = Math.round(timeout / 1000)
        throw new RequestError(
          'unavailable',
          `The build has not ended after ${seconds} seconds. It continues: release ${releaseId}.`,
        )
      }
      await pause(Math.min(wait, left), undefined, { signal: stopping })
      wait = Math.min(wait * 1.5, maxPauseMilliseconds)
      try {
        last = await client.state(releaseId)
        failures = 0
      } catch (error) {
        if (!isTemporary(error) || ++failures === maxFailures) throw error
      }
    }
  } catch (error) {
    if (stopping.aborted)
      throw new CommandError(`Stopped waiting. The build continues: release ${releaseId}.`)
    throw error
  } finally {
    progress.end()
  }
}

function isTemporary(error: unknown): boolean {
  return error instanceof RequestError && (error.kind === 'unavailable' || error.status === 429)
}
