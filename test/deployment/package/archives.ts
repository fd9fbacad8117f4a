import { createHash } from 'node:crypto'
import { crc32, deflateRawSync } from 'node:zlib'
import { unzipSync } from 'fflate'
import type { Manifest } from '../../../src/deployment/package/manifest.ts'
import {
  centralHeader,
  endRecord,
  localHeader,
  checksumComment,
  type ZipRecord,
} from '../../../src/deployment/package/zip-layout.ts'

/** A file of an archive as somebody might forge it. */
export interface Forged {
  readonly path: string
  readonly bytes: Uint8Array
  /** The size that the headers claim. */
  readonly size?: number
  /** What stands in the archive instead of the packed bytes. */
  readonly packed?: Uint8Array
}

/** An archive without any check, in the right form and with the right checksum. */
export function forge(files: readonly Forged[]): Buffer {
  const records: ZipRecord[] = []
  const parts: Uint8Array[] = []
  let offset = 0
  for (const { path, bytes, size = bytes.length, packed = deflateRawSync(bytes) } of files) {
    const record = { path, crc: crc32(bytes), packed: packed.length, size, offset }
    const header = localHeader(record)
    records.push(record)
    parts.push(header, packed)
    offset += header.length + packed.length
  }
  const directory = Buffer.concat(records.map(centralHeader))
  return reseal(
    Buffer.concat([...parts, directory, endRecord(files.length, offset, directory.length)]),
  )
}

/** An archive with the checksum that its bytes ask for. */
export function reseal(unsealed: Uint8Array): Buffer {
  return Buffer.concat([unsealed, checksumComment([unsealed])])
}

/** The files of an archive, as another program reads them. */
export function filesOf(archive: Uint8Array): Map<string, Uint8Array> {
  return new Map(Object.entries(unzipSync(archive)))
}

/** The archive with its files changed by somebody who knows its form. */
export function tampered(
  archive: Uint8Array,
  change: (files: Map<string, Uint8Array>) => void,
): Buffer {
  const files = filesOf(archive)
  change(files)
  return forge([...files].map(([path, bytes]) => ({ path, bytes })))
}

/** Changes the manifest among the files of an archive. */
export function changeManifest(
  files: Map<string, Uint8Array>,
  change: (manifest: Manifest) => object,
): void {
  const manifest = JSON.parse(textOf(files, 'manifest.json')) as Manifest
  files.set('manifest.json', bytesOf(`${JSON.stringify(change(manifest), null, 2)}\n`))
}

export function textOf(files: ReadonlyMap<string, Uint8Array>, path: string): string {
  const bytes = files.get(path)
  if (bytes === undefined) throw new Error(`${path} is not there.`)
  return Buffer.from(bytes).toString()
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
