import { z } from 'zod'
import { PackageError } from './package-error.ts'

/** The names of the files that every package has, and of the signature that it may have. */
export const manifestPath = 'manifest.json'
export const signaturePath = 'manifest.sig'
export const definitionsPath = 'definitions.json'

/** The most bytes of the manifest. */
export const manifestLimit = 4 * 1024 * 1024
/** The most bytes of the definitions. */
export const definitionsLimit = 16 * 1024 * 1024

/** The path of a DDL text; its dialect is the first group. */
export const ddlPath = /^ddl\/([^/]+)\.sql$/

/**
 * The most bytes of a file, if it is decoded when a package is opened: an archive of a few bytes may
 * promise very large files.
 */
export function decodedLimit(path: string): number {
  if (path === manifestPath) return manifestLimit
  if (path === signaturePath) return 1024
  return path === definitionsPath || ddlPath.test(path) ? definitionsLimit : Infinity
}

/** The folder of the files that make the snapshot. */
export const snapshotFolder = 'snapshot/'

/** A file of a package, with what it is recognised by. */
export interface ManifestFile {
  readonly path: string
  readonly bytes: number
  /** In hexadecimal digits. */
  readonly sha256: string
}

/**
 * What a package says of itself. It depends on the release and its definitions only: neither the clock
 * nor the machine that built it stands here, so that the same release gives the same bytes anywhere.
 */
export interface Manifest {
  /** The form of the package. Another one means that a newer version has made it. */
  readonly format: 1
  readonly solutionId: string
  readonly name: string
  readonly version: string
  readonly releaseNotes: string | null
  /** `YYYY-MM-DDThh:mm:ss` */
  readonly releaseDate: string
  /** The names of the collections by application. */
  readonly applications: Readonly<Record<string, readonly string[]>>
  /** Every file but the manifest and its signature, in the order of their paths. */
  readonly files: readonly ManifestFile[]
  /** The paths of the files that make the snapshot; null when none was taken. */
  readonly snapshot: { readonly files: readonly string[] } | null
  /** The places of the code that belongs to the definitions and that the package does not bring. */
  readonly code: readonly string[]
}

const shape = z.strictObject({
  format: z.literal(1),
  solutionId: z.string(),
  name: z.string(),
  version: z.string(),
  releaseNotes: z.string().nullable(),
  releaseDate: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?$/, 'is no date-time'),
  applications: z.record(z.string(), z.array(z.string())),
  files: z.array(
    z.strictObject({
      path: z.string(),
      bytes: z.int().min(0),
      sha256: z.string().regex(/^[0-9a-f]{64}$/, 'is no SHA-256'),
    }),
  ),
  snapshot: z.strictObject({ files: z.array(z.string()) }).nullable(),
  code: z.array(z.string()),
})

/** The bytes of `manifest.json`. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(shape.parse(manifest), null, 2)}\n`)
}

/** Reads `manifest.json`. Throws a PackageError that names what is wrong. */
export function decodeManifest(bytes: Uint8Array): Manifest {
  if (bytes.length > manifestLimit) throw problem(`has more than ${manifestLimit} bytes`)
  const json = jsonOf(bytes, manifestPath)
  const { format } = Object(json) as { readonly format?: unknown }
  if (typeof format === 'number' && format > 1) {
    throw problem(`has format ${format}, which a newer version has made; this one reads format 1`)
  }
  const result = shape.safeParse(json)
  if (!result.success) {
    const place = result.error.issues[0]?.path.map(String) ?? []
    throw problem(place.length === 0 ? 'is no manifest' : `is wrong at ${place.join('.')}`)
  }
  const manifest: Manifest = result.data
  // One text for one manifest: no name twice, and nothing that another reader would take differently.
  if (Buffer.compare(encodeManifest(manifest), bytes) !== 0) {
    throw problem('is not written as the builder writes it')
  }
  const snapshot = manifest.files.map(({ path }) => path).filter(isOfSnapshot)
  if ((manifest.snapshot?.files ?? []).join('\n') !== snapshot.join('\n')) {
    throw problem('lists other files of the snapshot than the package has')
  }
  return manifest
}

/** Whether a path inside a package is that of a file of the snapshot. */
export function isOfSnapshot(path: string): boolean {
  return path.startsWith(snapshotFolder)
}

/** The JSON of a file inside a package. */
export function jsonOf(bytes: Uint8Array, path: string): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return JSON.parse(text) as unknown
  } catch {
    throw new PackageError(path, 'is not valid JSON in UTF-8')
  }
}

function problem(what: string): PackageError {
  return new PackageError(manifestPath, what)
}
