import * as z from 'zod/mini'
import { wholeNumber } from '../../checks/option-shapes.ts'
import { explain, withAdvice } from '../../checks/options.ts'
import { parseJson } from '../../protocol/json-text.ts'
import { mistakesText, PackageError } from './package-error.ts'

/** The paths of the files of a package. The signature is optional, the others are required. */
export const manifestPath = 'manifest.json'
export const signaturePath = 'manifest.sig'
export const definitionsPath = 'definitions.json'

/** The maximum size of the manifest, in bytes. */
export const manifestLimit = 4 * 1024 * 1024
/** The maximum size of the definitions and of each DDL file, in bytes. */
export const definitionsLimit = 16 * 1024 * 1024

/** Matches the path of a DDL file. The first group is the dialect. */
export const ddlPath = /^ddl\/([^/]+)\.sql$/

/**
 * Returns the maximum size of a file that is decoded when a package is opened, in bytes. A small archive
 * may declare very large files.
 */
export function maxDecodedBytes(path: string): number {
  if (path === manifestPath) return manifestLimit
  if (path === signaturePath) return 1024
  return path === definitionsPath || ddlPath.test(path) ? definitionsLimit : Infinity
}

/** The folder of the files of the snapshot. */
export const snapshotFolder = 'snapshot/'

/** The folder of the files that the builder adds, such as built code. */
export const filesFolder = 'files/'

/**
 * Returns what is wrong with the place of a file in a package, besides the manifest and its signature; undefined if
 * packages may have it. Nothing reads other files, so they would only reach the disk of the service.
 */
export function placeMistake(path: string): string | undefined {
  const isKnown = path === definitionsPath || ddlPath.test(path)
  if (isKnown || path.startsWith(filesFolder) || path.startsWith(snapshotFolder)) return undefined
  return 'is not a file of a package: it has definitions.json, ddl/<dialect>.sql, and files below files/ and snapshot/'
}

/** A file of a package with its size and checksum. */
export interface ManifestFile {
  readonly path: string
  readonly bytes: number
  /** The SHA-256 in hexadecimal digits. */
  readonly sha256: string
}

/**
 * The description of a package. It depends only on the release and its definitions, not on the time or
 * machine of the build, so the same release results in the same bytes everywhere.
 */
export interface Manifest {
  /** The format of the package. Newer versions of rowgate may use a greater number. */
  readonly format: 1
  readonly solutionId: string
  readonly name: string
  readonly version: string
  readonly releaseNotes: string | null
  /** `YYYY-MM-DDThh:mm:ss` */
  readonly releaseDate: string
  /** The names of the collections by application. */
  readonly applications: Readonly<Record<string, readonly string[]>>
  /** All files except the manifest and its signature, sorted by path. */
  readonly files: readonly ManifestFile[]
  /** The paths of the files of the snapshot; null without a snapshot. */
  readonly snapshot: { readonly files: readonly string[] } | null
  /** The places of code that the definitions had and the package does not include. */
  readonly code: readonly string[]
}

const shape = z.strictObject({
  format: z.literal(1),
  solutionId: z.string(),
  name: z.string(),
  version: z.string(),
  releaseNotes: z.nullable(z.string()),
  releaseDate: z
    .string()
    .check(
      z.regex(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?$/,
        'must be a date and time such as 2026-03-01T00:00:00',
      ),
    ),
  applications: z.record(z.string(), z.array(z.string())),
  files: z.array(
    z.strictObject({
      path: z.string(),
      bytes: wholeNumber(0),
      sha256: z
        .string()
        .check(z.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal digits')),
    }),
  ),
  snapshot: z.nullable(z.strictObject({ files: z.array(z.string()) })),
  code: z.array(z.string()),
})

/** Returns the bytes of `manifest.json`. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(shape.parse(manifest), null, 2)}\n`)
}

/** Reads `manifest.json`. Throws a PackageError that lists its mistakes. */
export function decodeManifest(bytes: Uint8Array): Manifest {
  if (bytes.length > manifestLimit) throw problem(`has more than ${manifestLimit} bytes`)
  const json = jsonOf(bytes, manifestPath)
  const { format } = Object(json) as { readonly format?: unknown }
  if (typeof format === 'number' && format > 1) {
    throw problem(
      `has format ${format}, which a newer version has written; this version reads format 1`,
    )
  }
  const result = shape.safeParse(json, withAdvice)
  if (!result.success) {
    const mistakes = result.error.issues.flatMap((issue) => explain(issue, ['manifest']))
    throw problem(`is invalid: ${mistakesText(mistakes)}`)
  }
  const manifest: Manifest = result.data
  // There is exactly one encoding of a manifest, so no other reader can interpret it differently.
  if (Buffer.compare(encodeManifest(manifest), bytes) !== 0) {
    throw problem('is not in the form in which definitionBuilder writes it')
  }
  const snapshot = manifest.files.map(({ path }) => path).filter(isSnapshotPath)
  if ((manifest.snapshot?.files ?? []).join('\n') !== snapshot.join('\n')) {
    throw problem('lists snapshot files that differ from the package')
  }
  return manifest
}

/** Returns whether a path in a package belongs to the snapshot. */
export function isSnapshotPath(path: string): boolean {
  return path.startsWith(snapshotFolder)
}

/** Parses a JSON file of a package. Throws a PackageError for invalid JSON or UTF-8. */
export function jsonOf(bytes: Uint8Array, path: string): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return parseJson(text)
  } catch {
    throw new PackageError(path, 'is not valid JSON in UTF-8')
  }
}

function problem(what: string): PackageError {
  return new PackageError(manifestPath, what)
}
