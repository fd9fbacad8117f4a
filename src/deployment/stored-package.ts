import { equal } from '../request/query.ts'
import type { StorageReader } from '../storage/adapter.ts'
import type { Package } from './builder.ts'
import { BuildError } from './builders/build-error.ts'
import { deploymentCollections } from './collections.ts'
import { savedFileName } from './package/file-name.ts'
import { sha256Of } from './package/sha256.ts'

/** A package as it is kept. */
export interface StoredPackage {
  readonly fileName: string
  /** Its parts in order, made while they are stored. */
  readonly parts: () => Iterable<PackagePart>
}

/** A part of a package. */
export interface PackagePart {
  /** From 0. */
  readonly part: number
  /** In base64; the texts of all parts, one behind the other, are that of the package. */
  readonly file: string
  /** How many bytes it has, decoded. */
  readonly bytes: number
  /** Of its bytes, in hexadecimal digits. */
  readonly sha256: string
}

const { packages } = deploymentCollections

// A multiple of three has no padding: 1 MiB of base64, which every database takes as one value.
const partLength = 768 * 1024
const partsAtOnce = 16

/** Checks what a builder has built, and makes it ready to be kept. Throws a BuildError for anything else. */
export function storedPackage(built: unknown, limit: number): StoredPackage {
  if (!isPackage(built)) throw new BuildError('The builder gave no package.')
  const { bytes } = built
  const fileName = savedFileName(built.fileName)
  if (fileName === undefined)
    throw new BuildError('The builder gave a file name with a folder or a control character.')
  if (bytes.byteLength > limit) {
    throw new BuildError(`The package is larger than ${limit} bytes.`)
  }
  return { fileName, parts: () => partsOf(bytes) }
}

function isPackage(built: unknown): built is Package {
  if (typeof built !== 'object' || built === null) return false
  const { fileName, bytes } = built as Partial<Package>
  return typeof fileName === 'string' && fileName !== '' && bytes instanceof Uint8Array
}

/** Cuts a package into parts. */
function* partsOf(bytes: Uint8Array): Generator<PackagePart, void> {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let part = 0; part === 0 || part * partLength < whole.byteLength; part++) {
    const cut = whole.subarray(part * partLength, (part + 1) * partLength)
    yield { part, file: cut.toString('base64'), bytes: cut.byteLength, sha256: sha256Of(cut) }
  }
}

/** The package of a release in base64; null before it is built. */
export async function readStoredPackage(
  reader: StorageReader,
  releaseId: string,
): Promise<string | null> {
  let file: string | null = null
  const query = {
    conditions: [equal('releaseId', releaseId)],
    search: null,
    sort: [
      { field: 'part', descending: false },
      { field: 'releaseId', descending: false },
    ],
    limit: partsAtOnce,
    select: ['file'],
    count: false,
  }
  for (let offset = 0; ; offset += partsAtOnce) {
    const { rows } = await reader.filter(packages, { ...query, offset })
    // Not joined: an engine that appends copies nothing yet.
    for (const row of rows) file = (file ?? '') + (row['file'] as string)
    if (rows.length < partsAtOnce) return file
  }
}
