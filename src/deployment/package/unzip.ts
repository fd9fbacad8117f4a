import { inflateRawSync } from 'node:zlib'
import { PackageError } from './package-error.ts'
import { clashOf, pathMistake } from './package-path.ts'
import {
  centralHeader,
  centralLength,
  endLength,
  endRecord,
  localHeader,
  localLength,
  sealLength,
  sealOf,
  type ZipRecord,
} from './zip-layout.ts'

// What zlib answers with `info`: the bytes, and how many it has taken for them.
interface InflateInfo {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

/** A file of an archive that has not been unpacked yet. */
export interface ZipEntry {
  readonly path: string
  /** How many bytes it has, as the archive says; `unpack` holds it to that. */
  readonly size: number
  unpack(): Uint8Array
}

/**
 * Opens an archive that `zip` has made, and nothing else: every byte outside of the files must be the
 * one that `zip` would have written. So there is no place for a second directory, for hidden entries,
 * for links, or for anything that another program would read differently. Nothing is unpacked before
 * the sizes in the directory were found to stay below `limit` bytes in all.
 */
export function openZip(bytes: Uint8Array, limit: number): readonly ZipEntry[] {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const records = recordsOf(archive)
  for (const { path } of records) {
    const mistake = pathMistake(path)
    if (mistake !== undefined) throw new PackageError(path, mistake)
  }
  const clash = clashOf(records.map(({ path }) => path))
  if (clash !== undefined) {
    const [one, other] = clash
    throw new PackageError(other, one === other ? 'comes twice' : `can not stand beside ${one}`)
  }
  const total = records.reduce((sum, { size }) => sum + size, 0)
  if (total > limit) throw new PackageError(null, `unpacks to more than ${limit} bytes`)
  return records.map((record) => ({
    path: record.path,
    size: record.size,
    unpack: () => unpack(archive, record),
  }))
}

function recordsOf(archive: Buffer): readonly ZipRecord[] {
  const end = archive.length - sealLength - endLength
  if (end < 0 || archive.readUInt32LE(end) !== 0x06054b50) {
    throw new PackageError(null, 'is no archive of this form, or its end is missing')
  }
  if (!sealOf([archive.subarray(0, -sealLength)]).equals(archive.subarray(-sealLength))) {
    throw new PackageError(null, 'was damaged: its checksum is wrong')
  }
  const count = archive.readUInt16LE(end + 10)
  const start = archive.readUInt32LE(end + 16)
  const records: ZipRecord[] = []
  let [at, offset] = [start, 0]
  for (let index = 0; index < count; index++) {
    const record = readRecord(archive, at, end)
    expectAt(archive, at, centralHeader(record))
    if (record.offset !== offset) throw unlike()
    const header = localHeader(record)
    expectAt(archive, offset, header)
    at += centralLength + header.length - localLength
    offset += header.length + record.packed
    records.push(record)
  }
  if (offset !== start || at !== end) throw unlike()
  expectAt(archive, end, endRecord(count, start, end - start))
  return records
}

function readRecord(archive: Buffer, at: number, end: number): ZipRecord {
  if (at + centralLength > end) throw unlike()
  const nameEnd = at + centralLength + archive.readUInt16LE(at + 28)
  if (nameEnd > end) throw unlike()
  return {
    // What is not UTF-8 does not come out as it went in.
    path: archive.toString('utf8', at + centralLength, nameEnd),
    crc: archive.readUInt32LE(at + 16),
    packed: archive.readUInt32LE(at + 20),
    size: archive.readUInt32LE(at + 24),
    offset: archive.readUInt32LE(at + 42),
  }
}

function unpack(archive: Buffer, { path, packed, size, offset }: ZipRecord): Uint8Array {
  const start = offset + localHeader({ path, crc: 0, packed, size, offset }).length
  const unpacked = inflate(archive.subarray(start, start + packed), size)
  if (unpacked === undefined) throw new PackageError(path, 'can not be unpacked')
  if (unpacked === 'longer' || unpacked.length !== size) {
    throw new PackageError(path, `does not have the ${size} bytes that the archive promises`)
  }
  return unpacked
}

function inflate(bytes: Buffer, size: number): Uint8Array | 'longer' | undefined {
  try {
    // It stops at the first byte too many, whatever the archive promised.
    const options = { maxOutputLength: Math.max(1, size), info: true }
    const { buffer, engine } = inflateRawSync(bytes, options) as unknown as InflateInfo
    return engine.bytesWritten === bytes.length ? buffer : undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'longer' : undefined
  }
}

function expectAt(archive: Buffer, at: number, expected: Uint8Array): void {
  if (!archive.subarray(at, at + expected.length).equals(expected)) throw unlike()
}

function unlike(): PackageError {
  return new PackageError(null, 'is not written as the builder writes it')
}
