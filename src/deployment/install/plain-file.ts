import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { InstallError } from './install-error.ts'

// Undefined on Windows.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Readonly<
  Record<'O_NOFOLLOW' | 'O_NONBLOCK', number | undefined>
>

/** Returns the kind of the entry at a path, without following symbolic links; undefined if there is none. */
export function fileKind(path: string): 'file' | 'folder' | 'other' | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if (found.isDirectory()) return 'folder'
  return found.isFile() ? 'file' : 'other'
}

/** Throws an InstallError if a name in the folder of the releases exists and is not a real folder. */
export function requireFolder(folder: string, name: string): void {
  const kind = fileKind(join(folder, name))
  if (kind === undefined || kind === 'folder') return
  throw new InstallError(
    `${name} in the folder of the releases is a symbolic link or not a folder. Remove it and install again.`,
  )
}

/**
 * Reads a regular file below a folder. Returns undefined if it is missing or larger than `limit` bytes,
 * and if it or one of its parent folders below `folder` is a symbolic link or of another kind.
 */
export function readPlainFile(folder: string, path: string, limit: number): Buffer | undefined {
  const names = path.split('/')
  const folders = names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join('/'))
  if (folders.some((inner) => fileKind(join(folder, inner)) !== 'folder')) return undefined
  if (fileKind(join(folder, path)) !== 'file') return undefined
  const file = openSync(join(folder, path), constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > limit) return undefined
    const bytes = Buffer.alloc(stat.size)
    let length = 0
    while (length < bytes.length) {
      const count = readSync(file, bytes, length, bytes.length - length, null)
      if (count === 0) break
      length += count
    }
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}
