import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'

/**
 * What an install does to the disk. What was written and synced, and stands under its name after its
 * folder was synced, survives a power cut.
 */
export interface Disk {
  /** Makes a folder, with those above it, for the user of the process only. */
  makeFolder(path: string): Promise<void>
  /** Writes a new file and syncs it, for the user of the process only. */
  writeFile(path: string, bytes: Uint8Array): Promise<void>
  /** Puts a file in the place of another, or a folder where none is, in one step. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file or folder, if it is there. */
  remove(path: string): Promise<void>
  /** Syncs the names in a folder. */
  syncFolder(path: string): Promise<void>
  /** The names in a folder; none when it is not there. */
  list(path: string): Promise<readonly string[]>
}

/** The disk. `step` is told before everything that changes it. */
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

// Some systems, such as Windows, keep names without being asked, and refuse to be.
const unasked = ['EPERM', 'EACCES', 'EISDIR', 'EINVAL', 'ENOTSUP']

async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  } catch (error) {
    if (!unasked.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
