import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'

/**
 * The disk operations of an install. A file survives a power failure once the file and its folder were
 * synced.
 */
export interface Disk {
  /** Creates a folder and its parents, accessible only to the user of the process. */
  makeFolder(path: string): Promise<void>
  /** Writes and syncs a new file, accessible only to the user of the process. */
  writeFile(path: string, bytes: Uint8Array): Promise<void>
  /** Renames a file or folder atomically. A file replaces an existing file. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file or folder if it exists. */
  remove(path: string): Promise<void>
  /** Syncs a folder, so that renames in it are durable. */
  syncFolder(path: string): Promise<void>
  /** Returns the sorted names in a folder; none if the folder does not exist. */
  list(path: string): Promise<readonly string[]>
}

/** Returns the disk operations. `step` is called before each change. */
export function openDisk(step: (name: string) => void = () => undefined): Disk {
  return {
    makeFolder: async (path) => {
      step(`make ${path}`)
      await mkdir(path, { recursive: true, mode: 0o700 })
    },
    writeFile: async (path, bytes) => {
      step(`open ${path}`)
      const file = await open(path, 'wx', 0o600)
      try {
        step(`write ${path}`)
        await file.writeFile(bytes)
        step(`sync ${path}`)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    rename: async (from, to) => {
      step(`rename ${from} ${to}`)
      await rename(from, to)
    },
    remove: async (path) => {
      step(`remove ${path}`)
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
    },
    syncFolder: async (path) => {
      step(`sync ${path}`)
      await syncFolder(path)
    },
    list: async (path) => {
      try {
        return (await readdir(path)).sort()
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
        throw error
      }
    },
  }
}

// Some systems, such as Windows, do not support syncing folders.
const unsupported = ['EPERM', 'EACCES', 'EISDIR', 'EINVAL', 'ENOTSUP']

async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  } catch (error) {
    if (!unsupported.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
