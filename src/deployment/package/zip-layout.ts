import { createHash } from 'node:crypto'

/** The description of a file in the headers of an archive. */
export interface ZipRecord {
  readonly path: string
  /** The CRC-32 of the unpacked bytes. */
  readonly crc: number
  /** The number of packed bytes. */
  readonly packed: number
  /** The number of unpacked bytes. */
  readonly size: number
  /** The offset of its local header. */
  readonly offset: number
}

/** The maximum numbers of files and bytes of an archive without ZIP64. */
export const maxFiles = 65_534
export const maxBytes = 0xffff_fffe

export const localLength = 30
export const centralLength = 46
export const endLength = 22
/** The length of the comment at the end of an archive: `sha256:` and the digits. */
export const commentLength = 71

// The layout is written here, not by a library: readers accept only an archive that packs to the same bytes
// again, and no library promises that its headers stay the same between versions.
// Headers do not depend on machine or time: midnight of 1 January 1980 without zone, UTF-8 names, deflate,
// Unix mode 0644.
const firstDay = 0x0021
const utf8Names = 0x0800
const deflate = 8
const versionNeeded = 20
const madeOnUnix = 0x0300 | versionNeeded
const attributes = 0o100644 << 16

/** Returns the header before the bytes of a file. */
export function localHeader(record: ZipRecord): Uint8Array {
  const name = Buffer.from(record.path)
  const header = Buffer.alloc(localLength)
  header.writeUInt32LE(0x04034b50, 0)
  writeCommon(header, 4, record, name.length)
  return Buffer.concat([header, name])
}

/** Returns the entry of a file in the directory at the end. */
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

/** Returns the end of an archive without its comment. */
export function endRecord(count: number, offset: number, length: number): Uint8Array {
  const end = Buffer.alloc(endLength)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(length, 12)
  end.writeUInt32LE(offset, 16)
  end.writeUInt16LE(commentLength, 20)
  return end
}

/**
 * Returns the comment of an archive: the checksum of everything before it. It detects damaged and
 * truncated archives. It does not protect against deliberate changes; the signature does.
 */
export function checksumComment(parts: readonly Uint8Array[]): Buffer {
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
