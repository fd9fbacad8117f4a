import { createHash } from 'node:crypto'
import type { ApplicationDefinitions } from '../../definition/application.ts'
import { indentedJson } from '../../protocol/json-text.ts'
import { nextTurn } from '../../runtime.ts'
import type { BuildJob, PackageFile } from '../builder.ts'
import { definitionData, omittedCode } from './definition-data.ts'
import {
  definitionsPath,
  encodeManifest,
  maxDecodedBytes,
  isSnapshotPath,
  manifestLimit,
  manifestPath,
  placeMistake,
  signaturePath,
  snapshotFolder,
  type ManifestFile,
} from './manifest.ts'
import { PackageError } from './package-error.ts'
import type { SignManifest } from './signature.ts'
import { chunksOf, zip, type ZipOptions } from './zip.ts'

/** The default maximum size of an unpacked package: 512 MiB. */
export const defaultLimit = 512 * 1024 * 1024

/** The members of a job that the manifest contains. */
export type ReleaseFacts = Pick<
  BuildJob,
  'solution' | 'version' | 'releaseNotes' | 'releaseDate' | 'snapshot'
>

/** The options of {@link writePackage}. */
export interface WriteOptions extends ZipOptions {
  /** Further files besides definitions and snapshot. */
  readonly files?: readonly PackageFile[]
  readonly sign?: SignManifest | undefined
}

/** Returns the bytes of a package: manifest, signature if any, then all files sorted by path. */
export async function writePackage(
  release: ReleaseFacts,
  { files = [], sign, ...options }: WriteOptions = {},
): Promise<Uint8Array> {
  const { solution, version, releaseNotes, releaseDate, snapshot } = release
  const contents = [
    definitionsFile(solution.applications),
    ...files,
    ...(snapshot ?? []).map(({ path, bytes }) => ({ path: `${snapshotFolder}${path}`, bytes })),
  ].sort((one, other) => (one.path < other.path ? -1 : 1))

  for (const { path, bytes } of contents) {
    if (path === signaturePath) throw new PackageError(path, 'has the name of the signature')
    const mistake = placeMistake(path)
    if (mistake !== undefined) throw new PackageError(path, mistake)
    const limit = maxDecodedBytes(path)
    if (bytes.length > limit) throw new PackageError(path, `has more than ${limit} bytes`)
  }
  requireTotal(contents)
  const described: ManifestFile[] = []
  for (const file of contents) described.push(await describe(file, options.signal))
  const manifest = encodeManifest({
    format: 1,
    solutionId: solution.solutionId,
    name: solution.name,
    version,
    releaseNotes,
    releaseDate,
    applications: collectionNames(solution.applications),
    files: described,
    snapshot:
      snapshot === null
        ? null
        : { files: contents.map(({ path }) => path).filter((path) => isSnapshotPath(path)) },
    code: omittedCode(solution.applications),
  })
  if (manifest.length > manifestLimit)
    throw new PackageError(null, `has too many files: its manifest exceeds ${manifestLimit} bytes`)
  const head = [{ path: manifestPath, bytes: manifest }]
  if (sign !== undefined) head.push({ path: signaturePath, bytes: sign(manifest) })
  const all = [...head, ...contents]
  requireTotal(all)
  return zip(all, options)
}

function requireTotal(files: readonly PackageFile[]): void {
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (size > defaultLimit)
    throw new PackageError(null, `has more than ${defaultLimit} bytes in total`)
}

/** Returns the file with the definitions of applications. */
export function definitionsFile(applications: ApplicationDefinitions): PackageFile {
  const text = `${indentedJson(definitionData(applications))}\n`
  return { path: definitionsPath, bytes: new TextEncoder().encode(text) }
}

/** Returns the names of the collections by application, both sorted. */
export function collectionNames(
  applications: ApplicationDefinitions,
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.keys(applications)
      .sort()
      .map((name) => [name, Object.keys(applications[name]?.collections ?? {}).sort()]),
  )
}

async function describe({ path, bytes }: PackageFile, signal?: AbortSignal): Promise<ManifestFile> {
  const hash = createHash('sha256')
  for (const chunk of chunksOf(bytes)) {
    signal?.throwIfAborted()
    hash.update(chunk)
    await nextTurn()
  }
  return { path, bytes: bytes.length, sha256: hash.digest('hex') }
}
