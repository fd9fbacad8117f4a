import type { ApplicationDefinitions } from '../../definition/application.ts'
import { publishCollection } from '../../definition/published.ts'
import type { StorageAdapter } from '../../storage/adapter.ts'
import { encodeManifest, manifestPath } from '../package/manifest.ts'
import { readPackage, type ReadOptions, type VerifiedPackage } from '../package/read-package.ts'
import { sha256Of } from '../package/sha256.ts'
import { changesBetween, type Change } from './changes.ts'
import { openDisk, type Disk } from './disk.ts'
import {
  readState,
  stateWith,
  writeState,
  type InstalledRelease,
  type InstalledState,
} from './installed-state.ts'
import { whileLocked } from './lock.ts'
import { placeRelease, readRelease, removeOthers } from './release-folder.ts'

/** Where a package is installed, and how. */
export interface InstallOptions extends ReadOptions {
  /** The folder of the releases. It is made when it is not there. */
  readonly folder: string
  /**
   * Where the tables of the package are made, by a storage that makes them when it is opened:
   * `sqliteStorage(file, { ensureSchema: true })`. It is opened for this, and closed. Default: none are.
   */
  readonly storage?: StorageAdapter
  /** Verifies and compares, and changes nothing. Default false. */
  readonly dryRun?: boolean
  /** Default: the system's clock. */
  readonly now?: () => Date
}

/** What an install has done, or would do. */
export interface Installation {
  readonly release: Pick<
    VerifiedPackage['manifest'],
    'solutionId' | 'name' | 'version' | 'releaseNotes' | 'releaseDate'
  >
  /** The SHA-256 of the package, in hexadecimal digits. */
  readonly sha256: string
  readonly signature: VerifiedPackage['signature']
  /** Against the release that was installed before. */
  readonly changes: readonly Change[]
  /** The DDL texts of the package by dialect. */
  readonly ddl: Readonly<Record<string, string>>
  /** The places of the code that belongs to the definitions, and that the package does not bring. */
  readonly code: readonly string[]
  /** False after a dry run, and when this very package was installed already. */
  readonly installed: boolean
}

/**
 * Installs a package: verifies it, unpacks it beside the releases before it, makes its tables, and only
 * then lets it count, in one step. Whenever it is killed, it is either the old or the new release.
 * Throws a PackageError for a package that can not be used, and an InstallError for a folder that can not.
 */
export function installPackage(bytes: Uint8Array, options: InstallOptions): Promise<Installation> {
  return installOn(openDisk(), bytes, options)
}

/** Installs a package on a disk. */
export async function installOn(
  disk: Disk,
  bytes: Uint8Array,
  { folder, storage, dryRun = false, now = () => new Date(), ...reading }: InstallOptions,
): Promise<Installation> {
  const opened = readPackage(bytes, reading)
  const manifest = encodeManifest(opened.manifest)
  const release = { package: sha256Of(bytes), manifest: sha256Of(manifest) }
  if (dryRun) return installationOf(opened, release, before(folder, readState(folder), release))

  await disk.makeFolder(folder)
  return whileLocked(folder, disk, async () => {
    const state = readState(folder)
    const old = before(folder, state, release)
    await placeRelease(
      folder,
      release.package,
      new Map([[manifestPath, manifest], ...opened.files]),
      disk,
    )
    if (storage !== undefined) await makeTables(storage, opened.applications)
    const isNew = state?.current.package !== release.package
    const next = isNew ? stateWith(state, release, now()) : state
    if (isNew) await writeState(folder, next, disk)
    const kept = [next.current, ...next.previous].map((each) => each.package)
    await removeOthers(folder, kept, disk)
    return { ...installationOf(opened, release, old), installed: isNew }
  })
}

/** The applications to compare with; undefined when this very package is installed, whatever its state. */
function before(
  folder: string,
  state: InstalledState | undefined,
  release: InstalledRelease,
): ApplicationDefinitions | undefined {
  if (state?.current.package === release.package) return undefined
  return state === undefined ? {} : readRelease(folder, state.current).applications
}

function installationOf(
  { manifest, applications, files, signature }: VerifiedPackage,
  { package: sha256 }: InstalledRelease,
  old: ApplicationDefinitions | undefined,
): Installation {
  const { solutionId, name, version, releaseNotes, releaseDate, code } = manifest
  return {
    release: { solutionId, name, version, releaseNotes, releaseDate },
    sha256,
    signature,
    changes: old === undefined ? [] : changesBetween(old, applications),
    ddl: ddlOf(files),
    code,
    installed: false,
  }
}

function ddlOf(files: VerifiedPackage['files']): Readonly<Record<string, string>> {
  const texts = [...files].flatMap(([path, bytes]) => {
    const [, dialect] = /^ddl\/([^/]+)\.sql$/.exec(path) ?? []
    return dialect === undefined ? [] : [[dialect, Buffer.from(bytes).toString()] as const]
  })
  return Object.fromEntries(texts)
}

async function makeTables(
  storage: StorageAdapter,
  applications: ApplicationDefinitions,
): Promise<void> {
  const collections = Object.entries(applications).flatMap(([application, definition]) =>
    Object.entries(definition.collections).map(([name, collection]) =>
      publishCollection(application, name, collection),
    ),
  )
  try {
    await storage.open(collections)
  } finally {
    await storage.close()
  }
}
