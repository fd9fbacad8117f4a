import { equal } from '../event/query.ts'
import type { StorageReader } from '../storage/adapter.ts'
import { deploymentCollections } from './collections.ts'
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

/** Cuts a package into parts. */
export function* partsOf(bytes: Uint8Array): Generator<PackagePart, void> {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let part = 0; part === 0 || part * partLength < whole.byteLength; part++) {
    const cut = whole.subarray(part * partLength, (part + 1) * partLength)
    yield { part, file: cut.toString('base64'), bytes: cut.byteLength, sha256: sha256Of(cut) }
  }
}

/** The package of a release in base64; null before it is built. */
export async function joinedParts(
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
