import { createHash } from 'node:crypto'

/** One file of an archive, as its headers describe it. */
export interface ZipRecord {
  readonly path: string
  /** CRC-32 of its bytes. */
  readonly crc: number
  /** Its bytes in the archive, and unpacked. */
  readonly packed: number
  readonly size: number
  /** Where its local header starts. */
  readonly offset: number
}

/** The most files of an archive, and the most bytes, without the extensions of ZIP64. */
export const mostFiles = 65_534
export const mostBytes = 0xffff_fffe

export const localLength = 30
export const centralLength = 46
export const endLength = 22
/** The comment at the end of an archive: `sha256:` and the digits. */
export const sealLength = 71

// Each header is the same on every machine and at every time: midnight of 1 January 1980 without a zone,
// UTF-8 names, deflate, a Unix file that its owner may write and everybody may read.
const firstDay = 0x0021
const utf8Names = 0x0800
const deflate = 8
const versionNeeded = 20
const madeOnUnix = 0x0300 | versionNeeded
const attributes = 0o100644 << 16

/** The header before the bytes of a file. */
export function localHeader(record: ZipRecord): Uint8Array {
  const name = Buffer.from(record.path)
  const header = Buffer.alloc(localLength)
  header.writeUInt32LE(0x04034b50, 0)
  writeCommon(header, 4, record, name.length)
  return Buffer.concat([header, name])
}

/** The entry of a file in the directory at the end. */
export function centralHeader(record: ZipRecord): Uint8Array {
  const name = Buffer.from(record.path)
  const header = Buffer.alloc(centralLength)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(madeOnUnix, 4)
  writeCommon(header, 6, record, name.length)
  header.writeUInt32LE(attributes >>> 0, 38)
  header.writeUInt32LE(record.offset, 42)
  return Buffer.concat([header, name])
}

/** The end of an archive, up to its comment. */
export function endRecord(count: number, offset: number, length: number): Uint8Array {
  const end = Buffer.alloc(endLength)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(length, 12)
  end.writeUInt32LE(offset, 16)
  end.writeUInt16LE(sealLength, 20)
  return end
}

/**
 * The comment of an archive: the checksum of everything before it. It tells at once when an archive
 * was damaged or cut on its way. Whoever changes one on purpose can compute it too: against that
 * stands the signature.
 */
export function sealOf(parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return Buffer.from(`sha256:${hash.digest('hex')}`)
}

function writeCommon(header: Buffer, at: number, record: ZipRecord, nameLength: number): void {
  header.writeUInt16LE(versionNeeded, at)
  header.writeUInt16LE(utf8Names, at + 2)
  header.writeUInt16LE(deflate, at + 4)
  header.writeUInt16LE(firstDay, at + 8)
  header.writeUInt32LE(record.crc, at + 10)
  header.writeUInt32LE(record.packed, at + 14)
  header.writeUInt32LE(record.size, at + 18)
  header.writeUInt16LE(nameLength, at + 22)
}
