import { z } from 'zod'
import { code } from '../../definition/option-shapes.ts'
import { completeOptions } from '../../definition/options.ts'
import { openDisk, type Disk } from './disk.ts'
import { InstallError } from './install-error.ts'
import type { Installation } from './install-package.ts'
import { readState, writeState } from './installed-state.ts'
import { whileLocked } from './lock.ts'
import { verifyRelease } from './release-folder.ts'

/** What counts after a rollback. */
export interface Rollback {
  readonly release: Installation['release']
  /** The SHA-256 of the package that counts now, and of the one that did, in hexadecimal digits. */
  readonly sha256: string
  readonly replaced: string
}

/** How a release is taken back. */
export interface RollbackOptions {
  /** Default: the system's clock. */
  readonly now?: () => Date
}

const shape = z.strictObject({
  now: code<() => Date>().default(() => () => new Date()),
} satisfies Record<keyof RollbackOptions, z.ZodType>)

/**
 * Lets the release before count again, in one step. Tables stay as they are: installs only add to them.
 * Throws an InstallError when there is no release before.
 */
export function rollback(folder: string, options: RollbackOptions = {}): Promise<Rollback> {
  return rollbackOn(openDisk(), folder, options)
}

/** Lets the release before count again, on a disk. */
export async function rollbackOn(
  disk: Disk,
  folder: string,
  options: RollbackOptions = {},
): Promise<Rollback> {
  const { now } = completeOptions('rollback', shape, options)
  // Before anything is written: the folder may be another one than was meant.
  if (readState(folder) === undefined)
    throw new InstallError('Nothing is installed in this folder.')
  return whileLocked(folder, disk, async () => {
    const state = readState(folder)
    const [current, ...previous] = state?.previous ?? []
    if (state === undefined || current === undefined) {
      throw new InstallError('There is no release before the one that is installed.')
    }
    const { manifest } = verifyRelease(folder, current)
    await writeState(folder, { format: 1, current, previous, installed: now().toISOString() }, disk)
    const { solutionId, name, version, releaseNotes, releaseDate } = manifest
    return {
      release: { solutionId, name, version, releaseNotes, releaseDate },
      sha256: current.package,
      replaced: state.current.package,
    }
  })
}
