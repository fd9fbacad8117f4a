import { open, stat } from 'node:fs/promises'
import { CommandError } from './command-error.ts'
import { errorMessage } from './text.ts'

/** What a command writes to a file. */
export type Written = 'definition' | 'description' | 'endpoints' | 'package'

/** A file that a command writes. */
export interface Writing {
  readonly writes: Written
  /** The files that the command reads. It never replaces them. */
  readonly reads?: readonly string[] | undefined
}

/**
 * Throws a CommandError if a command must not replace an existing file: a file that it reads, a database, or a file
 * that does not look like what the command writes. No option changes that.
 */
export async function requireReplaceable(
  path: string,
  shown: string,
  { writes, reads = [] }: Writing,
): Promise<void> {
  const existing = await identityOf(path)
  if (existing === undefined) return
  if (existing.isDirectory) throw new CommandError(`${shown} is a folder.`)
  // A renamed file would take the place of a device.
  if (!existing.isFile) throw new CommandError(`${shown} is not a regular file.`)
  const read = await Promise.all(reads.map(identityOf))
  const isRead = read.some((each) => each?.id === existing.id)
  const start = await startOf(path, shown)
  const reason = isRead ? 'the command reads this file' : reasonToKeep(start, writes)
  if (reason === undefined) return
  throw new CommandError(
    `${shown} is not replaced: ${reason}. Choose another name, or remove the file first.`,
  )
}

interface Identity {
  /** The same for all names of a file. */
  readonly id: string
  readonly isFile: boolean
  readonly isDirectory: boolean
}

async function identityOf(path: string): Promise<Identity | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  if (found === undefined) return undefined
  const id = `${found.dev} ${found.ino}`
  return { id, isFile: found.isFile(), isDirectory: found.isDirectory() }
}

// A document may have a long description before the member that identifies it.
const readLength = 65_536

async function startOf(path: string, shown: string): Promise<Buffer> {
  try {
    const file = await open(path, 'r')
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(readLength), 0, readLength, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    throw new CommandError(`${shown} exists, and could not be read: ${errorMessage(error)}`)
  }
}

/** Returns why a file with this beginning is not replaced. Undefined if it may be. */
function reasonToKeep(start: Buffer, writes: Written): string | undefined {
  if (start.length === 0) return undefined
  if (start.subarray(0, databaseStart.length).equals(databaseStart)) return 'it is a database'
  const isText = !start.includes(0)
  const text = start.toString()
  switch (writes) {
    case 'definition':
      return isText ? undefined : 'it is binary'
    case 'description':
      return isText && description.test(text) ? undefined : 'it is not an OpenAPI document'
    case 'endpoints':
      return isText && imported.test(text) ? undefined : 'it was not written by an import'
    case 'package':
      return archiveStarts.some((each) => start.subarray(0, each.length).equals(each))
        ? undefined
        : 'it is not a package'
  }
}

const databaseStart = Buffer.from('SQLite format 3\0')
// Of ZIP, gzip, xz and Zstandard: the builder of an application may make other archives than ZIP files.
const archiveStarts = ['504b', '1f8b', 'fd377a585a00', '28b52ffd'].map((each) =>
  Buffer.from(each, 'hex'),
)
const description = /(?:^|[\n{,])\s*["']?(?:openapi|swagger)["']?\s*:/
const imported = /^\ufeff?\s*\/\/ Imported from .* by rowgate/
