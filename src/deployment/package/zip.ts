import { crc32 } from 'node:zlib'
import { Deflate } from 'fflate'
import { nextTurn } from '../../runtime.ts'
import type { PackageFile } from '../builder.ts'
import { PackageError } from './package-error.ts'
import { conflictError, pathConflict, pathMistake } from './package-path.ts'
import {
  centralHeader,
  endRecord,
  localHeader,
  maxBytes,
  maxFiles,
  checksumComment,
  type ZipRecord,
} from './zip-layout.ts'

/** The options of {@link zip}. `progress` is called with numbers from 0 to 1. */
export interface ZipOptions {
  readonly signal?: AbortSignal
  readonly progress?: (fraction: number) => void
}

// Takes a few milliseconds.
const chunkLength = 64 * 1024

// fflate instead of zlib, whose output depends on its version and the processor. `mem` is fixed, since
// fflate computes its default with Math.log, which engines may round differently.
const compression = { level: 6, mem: 4 } as const

/**
 * Packs files into an archive in the given order. The same files result in the same bytes on every
 * machine. Yields to the event loop after each chunk. Throws a PackageError for invalid or conflicting
 * paths, and for too many files or bytes.
 */
export async function zip(
  files: readonly PackageFile[],
  { signal, progress }: ZipOptions = {},
): Promise<Uint8Array> {
  checkFiles(files)
  const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const parts: Uint8Array[] = []
  const records: ZipRecord[] = []
  let offset = 0
  let done = 0

  for (const { path, bytes } of files) {
    const packed: Uint8Array[] = []
    const stream = new Deflate(compression, (part) => packed.push(part))
    let crc = 0
    for (const chunk of chunksOf(bytes)) {
      signal?.throwIfAborted()
      crc = crc32(chunk, crc)
      done += chunk.length
      stream.push(chunk, chunk.byteOffset + chunk.length === bytes.byteOffset + bytes.length)
      progress?.(total === 0 ? 1 : done / total)
      await nextTurn()
    }
    const length = lengthOf(packed)
    const record = { path, crc, packed: length, size: bytes.length, offset }
    const header = localHeader(record)
    records.push(record)
    parts.push(header, ...packed)
    offset += header.length + length
    if (offset > maxBytes) throw new PackageError(null, 'is larger than 4 GiB')
  }

  const directory = records.map(centralHeader)
  const end = endRecord(records.length, offset, lengthOf(directory))
  parts.push(...directory, end)
  return Buffer.concat([...parts, checksumComment(parts)])
}

/** Yields bytes in chunks that take a few milliseconds each; one empty chunk if there are no bytes. */
export function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start === 0 || start < bytes.length; start += chunkLength) {
    yield bytes.subarray(start, start + chunkLength)
  }
}

function checkFiles(files: readonly PackageFile[]): void {
  if (files.length > maxFiles) throw new PackageError(null, `has more than ${maxFiles} files`)
  for (const { path } of files) {
    const mistake = pathMistake(path)
    if (mistake !== undefined) throw new PackageError(path, mistake)
  }
  const conflict = pathConflict(files.map(({ path }) => path))
  if (conflict !== undefined) throw conflictError(conflict)
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}
