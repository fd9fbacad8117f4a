import { join } from 'node:path'
import * as z from 'zod/mini'
import { isInstant } from '../../definition/value-forms.ts'
import type { Disk } from './disk.ts'
import { InstallError } from './install-error.ts'
import { fileKind, readPlainFile } from './plain-file.ts'

/** Identifies an installed release by the SHA-256 of its package and of its manifest. */
export interface InstalledRelease {
  readonly package: string
  readonly manifest: string
}

/** Which release in a folder is active. */
export interface InstalledState {
  readonly format: 1
  readonly current: InstalledRelease
  /** The previous releases, latest first. */
  readonly previous: readonly InstalledRelease[]
  /** The time of the install or rollback, as an instant. */
  readonly installed: string
}

/** The name of the file that stores the state. */
export const stateFile = 'current.json'

const stateLimit = 64 * 1024

/** How many previous releases are kept. */
export const maxPrevious = 5

const digest = z.string().check(z.regex(/^[0-9a-f]{64}$/))
const release = z.strictObject({ package: digest, manifest: digest })
const shape = z.strictObject({
  format: z.literal(1),
  current: release,
  previous: z.array(release),
  installed: z.string().check(z.refine(isInstant)),
})

/** Reads the state of a folder; undefined if nothing is installed. Throws an InstallError if it is invalid. */
export function readState(folder: string): InstalledState | undefined {
  if (fileKind(join(folder, stateFile)) === undefined) return undefined
  const text = readPlainFile(folder, stateFile, stateLimit)?.toString()
  const result = shape.safeParse(parsed(text ?? ''))
  if (result.success) return result.data
  throw new InstallError(
    `${stateFile} in the folder of the releases is invalid. Remove it and install again.`,
  )
}

/** Replaces the state of a folder atomically. */
export async function writeState(folder: string, state: InstalledState, disk: Disk): Promise<void> {
  const fresh = join(folder, `.new-${stateFile}`)
  await disk.remove(fresh)
  await disk.writeFile(fresh, Buffer.from(`${JSON.stringify(state, null, 2)}\n`))
  await disk.rename(fresh, join(folder, stateFile))
  await disk.syncFolder(folder)
}

/** Returns the state after a release was activated. */
export function stateWith(
  state: InstalledState | undefined,
  current: InstalledRelease,
  now: Date,
): InstalledState {
  const before = state === undefined ? [] : [state.current, ...state.previous]
  const previous = before.filter((each) => each.package !== current.package)
  return {
    format: 1,
    current,
    previous: previous.slice(0, maxPrevious),
    installed: now.toISOString(),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
