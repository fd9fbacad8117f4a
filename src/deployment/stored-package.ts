import { equal } from '../request/query.ts'
import type { StorageReader } from '../storage/adapter.ts'
import { filterTable } from '../storage/table.ts'
import type { Package } from './builder.ts'
import { BuildError } from './builders/build-error.ts'
import { deploymentCollections } from './collections.ts'
import { savedFileName } from './package/file-name.ts'
import { sha256Of } from './package/sha256.ts'

/** A package, ready to be stored. */
export interface StoredPackage {
  readonly fileName: string
  /** Yields the parts in order, each when it is stored. */
  readonly parts: () => Iterable<PackagePart>
}

/** A part of a package. */
export interface PackagePart {
  /** The position, from 0. */
  readonly part: number
  /** The bytes in base64. The concatenation of all parts is the package in base64. */
  readonly file: string
  /** The number of decoded bytes. */
  readonly bytes: number
  /** The SHA-256 of the bytes, in hexadecimal digits. */
  readonly sha256: string
}

const { packages } = deploymentCollections

// 1 MiB of base64, which every database accepts as one value. A multiple of three needs no padding.
const partLength = 768 * 1024
const pageSize = 16

/** Checks the result of a builder and prepares it for storage. Throws a BuildError if it is not a package. */
export function storedPackage(built: unknown, limit: number): StoredPackage {
  if (!isPackage(built)) throw new BuildError('The builder returned no package.')
  const { bytes } = built
  const fileName = savedFileName(built.fileName)
  if (fileName === undefined)
    throw new BuildError('The builder returned a file name with a folder or a control character.')
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

/** Splits a package into parts. */
function* partsOf(bytes: Uint8Array): Generator<PackagePart, void> {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let part = 0; part === 0 || part * partLength < whole.byteLength; part++) {
    const cut = whole.subarray(part * partLength, (part + 1) * partLength)
    yield { part, file: cut.toString('base64'), bytes: cut.byteLength, sha256: sha256Of(cut) }
  }
}

/** Reads the package of a release, in base64. Returns null before it is built. */
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
    limit: pageSize,
    select: ['file'],
    count: false,
  }
  for (let offset = 0; ; offset += pageSize) {
    const { rows } = await filterTable(reader, packages, { ...query, offset })
    // Appending does not copy the previous parts; joining an array would.
    for (const row of rows) file = (file ?? '') + (row['file'] as string)
    if (rows.length < pageSize) return file
  }
}
