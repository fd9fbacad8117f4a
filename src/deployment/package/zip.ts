import { setImmediate as nextTurn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { Deflate } from 'fflate'
import type { PackageFile } from '../builder.ts'
import { PackageError } from './package-error.ts'
import { clashOf, pathMistake } from './package-path.ts'
import {
  centralHeader,
  endRecord,
  localHeader,
  mostBytes,
  mostFiles,
  sealOf,
  type ZipRecord,
} from './zip-layout.ts'

/** How an archive is made: until `signal` is aborted, telling how far it is from 0 to 1. */
export interface ZipOptions {
  readonly signal?: AbortSignal
  readonly progress?: (fraction: number) => void
}

// Some milliseconds of work.
const chunkLength = 64 * 1024

// Not zlib: what it makes of the same bytes depends on its version and the processor. `mem` is fixed,
// for fflate would compute it with Math.log, which engines are free to round.
const compression = { level: 6, mem: 4 } as const

/**
 * Packs files into an archive, in the order given: the same files give the same bytes on every machine.
 * Gives way to others after each chunk. Throws a PackageError for what no archive can hold.
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
    if (offset > mostBytes) throw new PackageError(null, 'is larger than 4 GiB')
  }

  const directory = records.map(centralHeader)
  const end = endRecord(records.length, offset, lengthOf(directory))
  parts.push(...directory, end)
  return Buffer.concat([...parts, sealOf(parts)])
}

/** The bytes in pieces that take a few milliseconds each; one empty piece when there are none. */
export function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start === 0 || start < bytes.length; start += chunkLength) {
    yield bytes.subarray(start, start + chunkLength)
  }
}

function checkFiles(files: readonly PackageFile[]): void {
  if (files.length > mostFiles) throw new PackageError(null, `has more than ${mostFiles} files`)
  for (const { path } of files) {
    const mistake = pathMistake(path)
    if (mistake !== undefined) throw new PackageError(path, mistake)
  }
  const clash = clashOf(files.map(({ path }) => path))
  if (clash !== undefined) throw new PackageError(clash[1], `can not stand beside ${clash[0]}`)
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}
