import { inflateRawSync } from 'node:zlib'
import { PackageError } from './package-error.ts'
import { conflictError, pathConflict, pathMistake } from './package-path.ts'
import {
  centralHeader,
  centralLength,
  endLength,
  endRecord,
  localHeader,
  localLength,
  commentLength,
  checksumComment,
  type ZipRecord,
} from './zip-layout.ts'

// The result of zlib with `info`: the unpacked bytes, and the number of bytes read.
interface InflateInfo {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

/** A packed file of an archive. */
export interface ZipEntry {
  readonly path: string
  /** The declared size of the unpacked file, in bytes. */
  readonly size: number
  /** Unpacks the file. Throws a PackageError if it does not have the declared size. */
  unpack(): Uint8Array
}

/**
 * Opens an archive that `zip` has written. Every byte outside of the packed files must equal the byte
 * that `zip` writes, so an archive can't contain a second directory, hidden entries, links, or anything
 * that other programs read differently. The sum of the declared sizes must not exceed `limit` bytes; it
 * is checked before anything is unpacked. This is hand-written since general zip readers accept all of
 * these.
 */
export function openZip(bytes: Uint8Array, limit: number): readonly ZipEntry[] {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const records = recordsOf(archive)
  for (const { path } of records) {
    const mistake = pathMistake(path)
    if (mistake !== undefined) throw new PackageError(path, mistake)
  }
  const conflict = pathConflict(records.map(({ path }) => path))
  if (conflict !== undefined) throw conflictError(conflict)
  const total = records.reduce((sum, { size }) => sum + size, 0)
  if (total > limit) throw new PackageError(null, `unpacks to more than ${limit} bytes`)
  return records.map((record) => ({
    path: record.path,
    size: record.size,
    unpack: () => unpack(archive, record),
  }))
}

function recordsOf(archive: Buffer): readonly ZipRecord[] {
  const end = archive.length - commentLength - endLength
  if (end < 0 || archive.readUInt32LE(end) !== 0x06054b50) {
    throw new PackageError(null, 'is not an archive of definitionBuilder, or its end is missing')
  }
  if (
    !checksumComment([archive.subarray(0, -commentLength)]).equals(archive.subarray(-commentLength))
  ) {
    throw new PackageError(null, 'is damaged: its checksum does not match')
  }
  const count = archive.readUInt16LE(end + 10)
  const start = archive.readUInt32LE(end + 16)
  const records: ZipRecord[] = []
  let [at, offset] = [start, 0]
  for (let index = 0; index < count; index++) {
    const record = readRecord(archive, at, end)
    expectAt(archive, at, centralHeader(record))
    if (record.offset !== offset) throw formError()
    const header = localHeader(record)
    expectAt(archive, offset, header)
    at += centralLength + header.length - localLength
    offset += header.length + record.packed
    records.push(record)
  }
  if (offset !== start || at !== end) throw formError()
  expectAt(archive, end, endRecord(count, start, end - start))
  return records
}

function readRecord(archive: Buffer, at: number, end: number): ZipRecord {
  if (at + centralLength > end) throw formError()
  const nameEnd = at + centralLength + archive.readUInt16LE(at + 28)
  if (nameEnd > end) throw formError()
  const name = archive.subarray(at + centralLength, nameEnd)
  const path = name.toString('utf8')
  // Invalid UTF-8 is longer when it is encoded again.
  if (!Buffer.from(path).equals(name)) throw formError()
  return {
    path,
    crc: archive.readUInt32LE(at + 16),
    packed: archive.readUInt32LE(at + 20),
    size: archive.readUInt32LE(at + 24),
    offset: archive.readUInt32LE(at + 42),
  }
}

function unpack(archive: Buffer, { path, packed, size, offset }: ZipRecord): Uint8Array {
  const start = offset + localHeader({ path, crc: 0, packed, size, offset }).length
  const unpacked = inflate(archive.subarray(start, start + packed), size)
  if (unpacked === undefined) throw new PackageError(path, 'is damaged and cannot be unpacked')
  if (unpacked === 'longer' || unpacked.length !== size) {
    throw new PackageError(path, `does not have the ${size} bytes that the archive declares`)
  }
  return unpacked
}

function inflate(bytes: Buffer, size: number): Uint8Array | 'longer' | undefined {
  try {
    // Unpacking stops at the first byte beyond the declared size.
    const options = { maxOutputLength: Math.max(1, size), info: true }
    const { buffer, engine } = inflateRawSync(bytes, options) as unknown as InflateInfo
    return engine.bytesWritten === bytes.length ? buffer : undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'longer' : undefined
  }
}

function expectAt(archive: Buffer, at: number, expected: Uint8Array): void {
  if (!archive.subarray(at, at + expected.length).equals(expected)) throw formError()
}

function formError(): PackageError {
  return new PackageError(null, 'is not in the form in which definitionBuilder writes it')
}
