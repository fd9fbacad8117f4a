import { dirname, join } from 'node:path'
import { sha256Of } from '../package/sha256.ts'
import type { ApplicationDefinitions } from '../../definition/application.ts'
import { applicationsOf } from '../package/definition-data.ts'
import {
  decodeManifest,
  definitionsLimit,
  definitionsPath,
  jsonOf,
  manifestLimit,
  manifestPath,
  type Manifest,
} from '../package/manifest.ts'
import type { Disk } from './disk.ts'
import { InstallError } from './install-error.ts'
import { readState, type InstalledRelease } from './installed-state.ts'
import { fileKind, readPlainFile, requireFolder } from './plain-file.ts'

/** The folder of the unpacked releases, each named by the SHA-256 of its package. */
export const releasesFolder = 'releases'

/** A release that was read from disk. */
export interface UnpackedRelease {
  readonly manifest: Manifest
  readonly applications: ApplicationDefinitions
}

const digest = /^[0-9a-f]{64}$/
const leftover = /^\.(new|old)-/

/**
 * Writes the files of a release to its folder, all or none. If the release is already there, missing and
 * changed files are replaced.
 */
export async function placeRelease(
  folder: string,
  name: string,
  files: ReadonlyMap<string, Uint8Array>,
  disk: Disk,
): Promise<void> {
  const releases = join(folder, releasesFolder)
  requireFolder(folder, releasesFolder)
  await disk.makeFolder(releases)
  await disk.syncFolder(folder)
  const place = join(releases, name)
  const kind = fileKind(place)
  if (kind === 'folder') {
    await repair(releases, name, { files, disk })
    return
  }
  // Probably a symbolic link, which is not followed.
  if (kind !== undefined) await disk.remove(place)
  const fresh = join(releases, `.new-${name}`)
  await disk.remove(fresh)
  try {
    await unpack(fresh, files, disk)
    await disk.rename(fresh, place)
  } catch (error) {
    await disk.remove(fresh)
    throw error
  }
  await disk.syncFolder(releases)
}

/** Removes all releases except those in `kept`, and the leftovers of interrupted installs. */
export async function removeOthers(
  folder: string,
  kept: readonly string[],
  disk: Disk,
): Promise<void> {
  const releases = join(folder, releasesFolder)
  requireFolder(folder, releasesFolder)
  const names = await disk.list(releases)
  for (const name of names.filter((each) => leftover.test(each))) {
    await disk.remove(join(releases, name))
  }
  for (const name of names.filter((each) => digest.test(each) && !kept.includes(each))) {
    const old = join(releases, `.old-${name}`)
    await disk.rename(join(releases, name), old)
    await disk.remove(old)
  }
}

/** Reads manifest and definitions of a release and verifies both. Throws an InstallError if one was changed. */
export function readRelease(folder: string, release: InstalledRelease): UnpackedRelease {
  const read = (path: string, sha256: string | undefined, limit: number): Uint8Array =>
    verified(folder, release, { path, sha256, limit })
  const manifest = decodeManifest(read(manifestPath, release.manifest, manifestLimit))
  const file = manifest.files.find(({ path }) => path === definitionsPath)
  const definitions = read(definitionsPath, file?.sha256, definitionsLimit)
  return { manifest, applications: applicationsOf(jsonOf(definitions, definitionsPath)) }
}

/**
 * Returns the applications of the release that is installed in a folder, without code; none if nothing is
 * installed. Throws an InstallError if the release was changed after the install.
 *
 * ```ts
 * const applications = { ...own, ...installedApplications('installed') }
 * ```
 */
export function installedApplications(folder: string): ApplicationDefinitions {
  const state = readState(folder)
  return state === undefined ? {} : readRelease(folder, state.current).applications
}

/** Reads a release and verifies all of its files. Throws an InstallError if one was changed. */
export function verifyRelease(folder: string, release: InstalledRelease): UnpackedRelease {
  const unpacked = readRelease(folder, release)
  for (const { path, sha256, bytes: limit } of unpacked.manifest.files) {
    verified(folder, release, { path, sha256, limit })
  }
  return unpacked
}

function verified(
  folder: string,
  release: InstalledRelease,
  { path, sha256, limit }: Readonly<{ path: string; sha256: string | undefined; limit: number }>,
): Uint8Array {
  const inner = `${releasesFolder}/${release.package}/${path}`
  const bytes = readPlainFile(folder, inner, limit)
  if (bytes === undefined || sha256Of(bytes) !== sha256) throw damaged(release, path)
  return bytes
}

async function unpack(
  place: string,
  files: ReadonlyMap<string, Uint8Array>,
  disk: Disk,
): Promise<void> {
  const folders = new Set([place])
  for (const path of files.keys()) {
    for (let inner = dirname(path); inner !== '.'; inner = dirname(inner)) {
      folders.add(join(place, inner))
    }
  }
  for (const path of folders) await disk.makeFolder(path)
  for (const [path, bytes] of files) await disk.writeFile(join(place, path), bytes)
  for (const path of folders) await disk.syncFolder(path)
}

async function repair(
  releases: string,
  name: string,
  { files, disk }: { readonly files: ReadonlyMap<string, Uint8Array>; readonly disk: Disk },
): Promise<void> {
  const fresh = join(releases, '.new-file')
  for (const [path, bytes] of files) {
    const target = join(releases, name, path)
    if (readPlainFile(releases, `${name}/${path}`, bytes.length)?.equals(bytes) === true) continue
    await prepareParents(join(releases, name), path, disk)
    await disk.remove(fresh)
    await disk.writeFile(fresh, bytes)
    await disk.rename(fresh, target)
    await disk.syncFolder(dirname(target))
  }
}

/** Creates the parent folders of a file. Removes links on the way, and a folder at its path. */
async function prepareParents(place: string, path: string, disk: Disk): Promise<void> {
  const names = path.split('/')
  for (let count = 1; count < names.length; count++) {
    const folder = join(place, ...names.slice(0, count))
    const kind = fileKind(folder)
    if (kind === 'folder') continue
    // Writing through a link would change files outside of the release.
    if (kind !== undefined) await disk.remove(folder)
    await disk.makeFolder(folder)
  }
  const target = join(place, path)
  if (fileKind(target) === 'folder') await disk.remove(target)
}

function damaged({ package: name }: InstalledRelease, path: string): InstallError {
  return new InstallError(
    `The installed release ${name.slice(0, 12)} is damaged: ${path} is missing or was changed. Install its package again, or roll back.`,
  )
}
