import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createClient } from '../client/client.ts'
import type { ListedRelease, QueuedRelease, Releases } from '../client/releases.ts'
import { RequestError } from '../client/request-error.ts'
import { compact, requiredOf, wholeOf, type CommandContext, type Given } from './command.ts'
import { openProgress } from './progress.ts'
import { CommandError, UsageError } from './command-error.ts'
import { placeFor, saveFile, type SavedFile } from './save-file.ts'
import type { Column } from './table.ts'
import { errorMessage, printable } from './text.ts'

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
  const releases = await openReleases(given, context, stopping)
  const request = compact({
    solutionId,
    version: given.one('version'),
    releaseNotes: given.one('notes'),
    snapshot: given.has('snapshot') ? true : undefined,
  })
  const queued = await releases.queue(request).catch((error: unknown) => {
    throw stopping.aborted ? new CommandError('Stopped. The build may have been queued.') : error
  })
  const { releaseId, name, version } = queued
  if (!given.has('wait')) {
    context.result(queued, () => printable(releaseId))
    context.note(printable(`The build of ${name} ${version} is queued.`))
    return
  }
  const ended = await waitForBuild({ releases, queued, timeout, stopping, context })
  if (ended.status === 'failed') {
    context.result(ended, () => printable(releaseId))
    throw new CommandError(`The build of ${name} ${version} failed.`)
  }
  const saved = place === undefined ? undefined : await save(releases, { releaseId, place })
  context.result({ ...ended, ...saved }, () => printable(releaseId))
  context.note(printable(`Built ${name} ${version}.`))
  if (saved !== undefined) context.note(`${saved.sha256}  ${printable(saved.file)}`)
}

/** Runs `rowgate release list`. */
export async function listReleases(given: Given, context: CommandContext): Promise<void> {
  const solutionId = requiredOf(given, 'solution', 'id')
  const releases = await openReleases(given, context)
  context.table(
    releaseColumns,
    await releases.list(solutionId, { withStatus: true }),
    'No releases.',
  )
}

/** Runs `rowgate release get`. */
export async function getRelease(given: Given, context: CommandContext): Promise<void> {
  const releaseId = given.argument
  if (releaseId === undefined || releaseId === '')
    throw new UsageError('Missing argument: <releaseId>. The command release list shows it.')
  const place = await packagePlace(requiredOf(given, 'out', 'file'), given, context)
  const releases = await openReleases(given, context)
  const solutionId = given.one('solution')
  const wanted = { releaseId, place, ...(solutionId !== undefined && { solutionId }) }
  const saved = await save(releases, wanted)
  context.result({ releaseId, ...saved }, () => `${saved.sha256}  ${printable(saved.file)}`)
}

async function outPlace(given: Given, context: CommandContext): Promise<string | undefined> {
  const file = given.one('out')
  return file === undefined ? undefined : packagePlace(file, given, context)
}

function packagePlace(file: string, given: Given, context: CommandContext): Promise<string> {
  const reads = given.all('key-file')
  return placeFor(file, context.workingFolder, { writes: 'package', reads })
}

async function save(
  releases: Releases,
  wanted: { readonly releaseId: string; readonly place: string; readonly solutionId?: string },
): Promise<SavedFile> {
  const { file, status } = await releases.get(wanted.releaseId, wanted)
  if (file === null) throw new CommandError(`The release has no package. Its status is ${status}.`)
  const bytes = Buffer.from(file, 'base64')
  if (bytes.toString('base64') !== file)
    throw new RequestError(
      'INVALID_RESPONSE',
      'The received package is damaged: it is not valid base64.',
    )
  return saveFile(wanted.place, bytes)
}

const releaseColumns: readonly Column<ListedRelease>[] = [
  { title: 'RELEASE ID', text: ({ releaseId }) => releaseId, whole: true },
  { title: 'VERSION', text: ({ version }) => version },
  { title: 'NAME', text: ({ name }) => name },
  { title: 'STATUS', text: ({ status }) => status ?? '-', whole: true },
  { title: 'DATE', text: ({ releaseDate }) => releaseDate.slice(0, 16).replace('T', ' ') },
  { title: 'NOTES', text: ({ releaseNotes }) => releaseNotes ?? '-', spare: true },
]

/** Waits until a build has ended, and shows its progress. Throws a CommandError if interrupted. */
async function waitForBuild({
  releases,
  queued,
  timeout,
  stopping,
  context,
}: {
  readonly releases: Releases
  readonly queued: QueuedRelease
  /** In milliseconds. */
  readonly timeout: number
  readonly stopping: AbortSignal
  readonly context: CommandContext
}): Promise<QueuedRelease> {
  const progress = openProgress(context)
  try {
    return await releases.wait(queued, {
      timeout,
      onProgress: ({ release, isRetrying }) => {
        progress.show(isRetrying ? `${release.status}, retrying` : release.status)
      },
    })
  } catch (error) {
    if (stopping.aborted)
      throw new CommandError(`Stopped waiting. The build continues: release ${queued.releaseId}.`)
    throw error
  } finally {
    progress.end()
  }
}

/**
 * Opens the releases of a service. The API key is read from a file or the environment, because arguments are
 * visible in the list of processes. Rejects with a UsageError that contains neither key nor URL.
 */
async function openReleases(
  given: Given,
  context: CommandContext,
  signal?: AbortSignal,
): Promise<Releases> {
  const url = addressOf(requiredOf(given, 'url', 'address'), given.has('insecure'))
  const header = given.one('header') ?? 'X-API-Key'
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header))
    throw new UsageError('--header is not a valid header name.')
  const brand = given.one('brand') ?? 'svc'
  if (!/^[a-z][a-z0-9]*$/.test(brand))
    throw new UsageError(
      '--brand must have lower-case letters and digits only, and begin with a letter.',
    )
  const key = await keyOf(given, context)
  const options = { url, key, keyHeader: header, brand, insecureHttp: given.has('insecure') }
  return createClient({ ...options, ...(signal && { signal }) }).releases
}

function addressOf(text: string, insecure: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError('--url must be a URL such as https://example.com.')
  if (url.username + url.password + url.search + url.hash !== '')
    throw new UsageError('--url must have no credentials, query or fragment.')
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !insecure)
    throw new UsageError(
      '--url is plain HTTP, which exposes the key. Use https, or add --insecure.',
    )
  return `${url.origin}${url.pathname}`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

async function keyOf(given: Given, context: CommandContext): Promise<string> {
  const file = given.one('key-file')
  const text =
    file === undefined ? context.environment['ROWGATE_KEY'] : await readText(file, context)
  const key = (text ?? '').replace(/\r?\n$/, '')
  if (key === '')
    throw new UsageError(
      'The API key is missing: set ROWGATE_KEY, or name its file with --key-file.',
    )
  if (/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(key)) return key
  throw new UsageError('The API key has characters that are not allowed in a header.')
}

async function readText(file: string, context: CommandContext): Promise<string> {
  try {
    return await readFile(resolve(context.workingFolder, file), 'utf8')
  } catch (error) {
    throw new CommandError(`${printable(file)} could not be read: ${errorMessage(error)}`)
  }
}
