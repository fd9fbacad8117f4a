import * as z from 'zod/mini'
import { clock } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { openDisk, type Disk } from './disk.ts'
import { InstallError } from './install-error.ts'
import type { Installation } from './install-package.ts'
import { readState, writeState } from './installed-state.ts'
import { withLock } from './lock.ts'
import { verifyRelease } from './release-folder.ts'

/** The result of a rollback. */
export interface Rollback {
  readonly release: Installation['release']
  /** The SHA-256 of the package that is active now, in hexadecimal digits. */
  readonly sha256: string
  /** The SHA-256 of the package that was active before. */
  readonly replaced: string
}

/** The options of {@link rollback}. */
export interface RollbackOptions {
  /** Default: the system's clock. */
  readonly now?: () => Date
}

const shape = z.strictObject({
  now: clock,
} satisfies Record<keyof RollbackOptions, z.ZodMiniType>)

/**
 * Activates the previous release atomically. Tables are not changed, since installs only add to them.
 * Throws an InstallError if there is no previous release, or if its files were changed.
 */
export function rollback(folder: string, options: RollbackOptions = {}): Promise<Rollback> {
  return rollbackOn(openDisk(), folder, options)
}

/** Activates the previous release with the given disk operations. */
export async function rollbackOn(
  disk: Disk,
  folder: string,
  options: RollbackOptions = {},
): Promise<Rollback> {
  const { now } = completeOptions('rollback', shape, options)
  // Checked before the lock file is written, since the folder may be the wrong one.
  if (readState(folder) === undefined)
    throw new InstallError('Nothing is installed in this folder.')
  return withLock(folder, disk, async () => {
    const state = readState(folder)
    const [current, ...previous] = state?.previous ?? []
    if (state === undefined || current === undefined) {
      throw new InstallError('There is no previous release in this folder.')
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
