import { randomUUID } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { sha256Of } from '../deployment/package/sha256.ts'
import { CommandError, UsageError } from './command-error.ts'
import { requireReplaceable, type Writing } from './replaced-file.ts'
import { errorMessage, printable } from './text.ts'

/** A saved file. */
export interface SavedFile {
  readonly file: string
  readonly bytes: number
  /** In hexadecimal digits. */
  readonly sha256: string
}

/**
 * Checks that a file can be saved at a path, and that an existing one is what the command may replace. Throws a
 * CommandError if not.
 */
export async function placeFor(
  name: string,
  workingFolder: string,
  writing: Writing,
): Promise<string> {
  const path = resolve(workingFolder, name)
  const folder = await stat(dirname(path)).catch(() => undefined)
  if (folder?.isDirectory() !== true)
    throw new CommandError(`The folder of ${printable(name)} does not exist.`)
  await requireReplaceable(path, printable(name), {
    ...writing,
    reads: writing.reads?.map((file) => resolve(workingFolder, file)),
  })
  return path
}

/** Throws a UsageError unless the name of a file ends with one of some extensions, such as `json`. */
export function requireEnding(name: string | undefined, endings: readonly string[]): void {
  const ending = /\.([A-Za-z0-9]+)$/.exec(name ?? '')?.[1]?.toLowerCase() ?? ''
  if (name === undefined || endings.includes(ending)) return
  const known = endings.map((each) => `.${each}`).join(', ')
  throw new UsageError(`--out must be a file that ends with one of ${known}.`)
}

/** Saves a file atomically: an existing file is replaced only by the complete new one. */
export async function saveFile(path: string, bytes: Uint8Array): Promise<SavedFile> {
  const fresh = join(dirname(path), `.${basename(path).slice(0, 100)}-${randomUUID()}`)
  try {
    const file = await open(fresh, 'wx')
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true })
    throw new CommandError(`${printable(path)} could not be written: ${errorMessage(error)}`)
  }
  const sha256 = sha256Of(bytes)
  return { file: path, bytes: bytes.length, sha256 }
}
