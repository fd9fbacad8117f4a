import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256Of } from '../package/sha256.ts'
import type { ApplicationDefinitions } from '../../definition/application.ts'
import { applicationsOf } from '../package/definition-data.ts'
import {
  decodeManifest,
  definitionsPath,
  jsonOf,
  manifestPath,
  type Manifest,
} from '../package/manifest.ts'
import type { Disk } from './disk.ts'
import { InstallError } from './install-error.ts'
import type { InstalledRelease } from './installed-state.ts'

/** The folder of the releases, each under the SHA-256 of its package. */
export const releasesFolder = 'releases'

/** A release as it stands on disk. */
export interface UnpackedRelease {
  readonly manifest: Manifest
  readonly applications: ApplicationDefinitions
}

const digest = /^[0-9a-f]{64}$/
const leftover = /^\.(new|old)-/

/**
 * Puts the files of a release in their place: all of them at once, or none. Where the release stands
 * already, files that are not as they should be are replaced.
 */
export async function placeRelease(
  folder: string,
  name: string,
  files: ReadonlyMap<string, Uint8Array>,
  disk: Disk,
): Promise<void> {
  const releases = join(folder, releasesFolder)
  await disk.makeFolder(releases)
  await disk.syncFolder(folder)
  const place = join(releases, name)
  if ((await disk.list(releases)).includes(name)) {
    await mend(releases, name, { files, disk })
    return
  }
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

/** Removes the releases that are not named, and what killed installs have left. */
export async function removeOthers(
  folder: string,
  kept: readonly string[],
  disk: Disk,
): Promise<void> {
  const releases = join(folder, releasesFolder)
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

/** Reads a release, and verifies what it reads. Throws an InstallError when it is not as it was installed. */
export function readRelease(folder: string, release: InstalledRelease): UnpackedRelease {
  const place = join(folder, releasesFolder, release.package)
  const read = (path: string, sha256: string | undefined): Uint8Array => {
    const bytes = bytesOf(join(place, path))
    if (bytes === undefined || sha256Of(bytes) !== sha256) throw damaged(release, path)
    return bytes
  }
  const manifest = decodeManifest(read(manifestPath, release.manifest))
  const file = manifest.files.find(({ path }) => path === definitionsPath)
  const definitions = read(definitionsPath, file?.sha256)
  return { manifest, applications: applicationsOf(jsonOf(definitions, definitionsPath)) }
}

/** Reads a release, and verifies every file of it. */
export async function verifyRelease(
  folder: string,
  release: InstalledRelease,
): Promise<UnpackedRelease> {
  const unpacked = readRelease(folder, release)
  const place = join(folder, releasesFolder, release.package)
  for (const { path, sha256 } of unpacked.manifest.files) {
    const bytes = await readFile(join(place, path)).catch(() => undefined)
    if (bytes === undefined || sha256Of(bytes) !== sha256) throw damaged(release, path)
  }
  return unpacked
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

async function mend(
  releases: string,
  name: string,
  { files, disk }: { readonly files: ReadonlyMap<string, Uint8Array>; readonly disk: Disk },
): Promise<void> {
  const fresh = join(releases, '.new-file')
  for (const [path, bytes] of files) {
    const target = join(releases, name, path)
    const there = await readFile(target).catch(() => undefined)
    if (there?.equals(bytes) === true) continue
    await disk.makeFolder(dirname(target))
    await disk.remove(fresh)
    await disk.writeFile(fresh, bytes)
    await disk.rename(fresh, target)
    await disk.syncFolder(dirname(target))
  }
}

function bytesOf(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

function damaged({ package: name }: InstalledRelease, path: string): InstallError {
  return new InstallError(
    `The installed release ${name.slice(0, 12)} is not as it was installed: ${path} is missing or was changed. Install its package again, or roll back.`,
  )
}
