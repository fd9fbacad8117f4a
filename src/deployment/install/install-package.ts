import * as z from 'zod/mini'
import type { ApplicationDefinitions } from '../../definition/application.ts'
import { clock, nonEmpty, objectWith } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { publishApplications } from '../../definition/publish-applications.ts'
import type { StorageAdapter } from '../../storage/adapter.ts'
import { ddlPath, encodeManifest, manifestPath, type Manifest } from '../package/manifest.ts'
import {
  readPackage,
  readShape,
  type ReadOptions,
  type VerifiedPackage,
} from '../package/read-package.ts'
import { sha256Of } from '../package/sha256.ts'
import { changesBetween, isOlder, type Change } from './changes.ts'
import { openDisk, type Disk } from './disk.ts'
import { InstallError } from './install-error.ts'
import {
  readState,
  stateWith,
  writeState,
  type InstalledRelease,
  type InstalledState,
} from './installed-state.ts'
import { withLock } from './lock.ts'
import { placeRelease, readRelease, removeOthers, type UnpackedRelease } from './release-folder.ts'

/** The options of {@link installPackage}. */
export interface InstallOptions extends ReadOptions {
  /** The folder of the releases. It is created if it does not exist. */
  readonly folder: string
  /**
   * A storage that creates missing tables when it is opened, such as
   * `sqliteStorage(file, { ensureSchema: true })`. It is opened and closed again. Default: no tables are
   * created.
   */
  readonly storage?: StorageAdapter
  /** Whether the package is only verified and compared, without any change. Default false. */
  readonly dryRun?: boolean
  /**
   * Confirms that the package may be installed without the code that `Installation.code` lists. Default
   * false: such a package throws an InstallError.
   */
  readonly withoutCode?: boolean
  /**
   * Confirms that the package may replace a release with a later date or a higher version. Default
   * false: such a package throws an InstallError.
   */
  readonly allowOlder?: boolean
  /** Default: the system's clock. */
  readonly now?: () => Date
}

const shape = z.strictObject({
  ...readShape,
  folder: nonEmpty,
  storage: z.optional(
    objectWith<StorageAdapter>(
      'transaction',
      'must be a storage adapter, for instance sqliteStorage(file, { ensureSchema: true })',
    ),
  ),
  dryRun: z._default(z.boolean(), false),
  withoutCode: z._default(z.boolean(), false),
  allowOlder: z._default(z.boolean(), false),
  now: clock,
} satisfies Record<keyof InstallOptions, z.ZodMiniType>)

/** The result of an install, or the plan of a dry run. */
export interface Installation {
  readonly release: Pick<
    Manifest,
    'solutionId' | 'name' | 'version' | 'releaseNotes' | 'releaseDate'
  >
  /** The SHA-256 of the package, in hexadecimal digits. */
  readonly sha256: string
  /** `unchecked`: the package has a signature, and `trust` was not given. */
  readonly signature: 'verified' | 'unchecked' | 'absent'
  /** The differences to the release that was installed before. */
  readonly changes: readonly Change[]
  /** The DDL of the package by dialect. */
  readonly ddl: Readonly<Record<string, string>>
  /** The table of each collection, by `application/collection`. */
  readonly tables: Readonly<Record<string, string>>
  /**
   * The places of code that the definitions had and the package does not include, such as
   * `applications.sales.collections.orders.rows`.
   */
  readonly code: readonly string[]
  /** The replaced release if it has a later date or a higher version than the package; else null. */
  readonly newer: Pick<Manifest, 'version' | 'releaseDate'> | null
  /** False after a dry run, and if this package was already installed. */
  readonly installed: boolean
}

/**
 * Installs a package: verifies it, unpacks it beside the earlier releases, creates its tables, and then
 * activates it atomically. If the process is killed, either the old or the new release is active.
 * Throws a PackageError for an invalid package, and an InstallError if the folder can't be used.
 */
export function installPackage(bytes: Uint8Array, options: InstallOptions): Promise<Installation> {
  return installOn(openDisk(), bytes, options)
}

/** Installs a package with the given disk operations. */
export async function installOn(
  disk: Disk,
  bytes: Uint8Array,
  options: InstallOptions,
): Promise<Installation> {
  const complete = completeOptions('installPackage', shape, options)
  const { folder, storage, dryRun, withoutCode, allowOlder, now, ...reading } = complete
  const opened = readPackage(bytes, reading as ReadOptions)
  const manifest = encodeManifest(opened.manifest)
  const release = { package: sha256Of(bytes), manifest: sha256Of(manifest) }
  if (dryRun) return installationOf(opened, release, replaced(folder, readState(folder), release))
  if (!withoutCode) requireNoCode(opened.manifest)

  await disk.makeFolder(folder)
  return withLock(folder, disk, async () => {
    const state = readState(folder)
    const old = replaced(folder, state, release)
    const plan = installationOf(opened, release, old)
    if (!allowOlder) requireNotOlder(plan)
    await placeRelease(
      folder,
      release.package,
      new Map([[manifestPath, manifest], ...opened.files]),
      disk,
    )
    if (storage !== undefined) await createTables(storage, opened.applications)
    const isNew = state?.current.package !== release.package
    const next = isNew ? stateWith(state, release, now()) : state
    if (isNew) await writeState(folder, next, disk)
    const kept = [next.current, ...next.previous].map((each) => each.package)
    await removeOthers(folder, kept, disk)
    return { ...plan, installed: isNew }
  })
}

/** Returns the installed release; `same` if it is this package, undefined if there is none. */
function replaced(
  folder: string,
  state: InstalledState | undefined,
  release: InstalledRelease,
): UnpackedRelease | 'same' | undefined {
  if (state?.current.package === release.package) return 'same'
  return state === undefined ? undefined : readRelease(folder, state.current)
}

function requireNoCode({ code }: Manifest): void {
  if (code.length === 0) return
  throw new InstallError(
    `The package does not include the code of its definitions: ${code.join(', ')}. ` +
      'Confirm with withoutCode that the service supplies it.',
  )
}

function requireNotOlder({ release, newer }: Installation): void {
  if (newer === null) return
  throw new InstallError(
    `The package (${release.version}, ${release.releaseDate}) is older than the installed release ` +
      `(${newer.version}, ${newer.releaseDate}). Confirm with allowOlder that it may replace it.`,
  )
}

function installationOf(
  { manifest, applications, files, signature }: VerifiedPackage,
  { package: sha256 }: InstalledRelease,
  old: UnpackedRelease | 'same' | undefined,
): Installation {
  const before = old === 'same' ? applications : (old?.applications ?? {})
  const { solutionId, name, version, releaseNotes, releaseDate, code } = manifest
  return {
    release: { solutionId, name, version, releaseNotes, releaseDate },
    sha256,
    signature,
    changes: changesBetween(before, applications),
    ddl: ddlOf(files),
    tables: tablesOf(applications),
    code,
    newer:
      typeof old === 'object' && isOlder(manifest, old.manifest) ? factsOf(old.manifest) : null,
    installed: false,
  }
}

function ddlOf(files: VerifiedPackage['files']): Readonly<Record<string, string>> {
  const texts = [...files].flatMap(([path, bytes]) => {
    const [, dialect] = ddlPath.exec(path) ?? []
    return dialect === undefined ? [] : [[dialect, Buffer.from(bytes).toString()] as const]
  })
  return Object.fromEntries(texts)
}

function factsOf({ version, releaseDate }: Manifest): Installation['newer'] {
  return { version, releaseDate }
}

function tablesOf(applications: ApplicationDefinitions): Installation['tables'] {
  return Object.fromEntries(
    publishApplications(applications).map(({ application, name, table }) => [
      `${application}/${name}`,
      table,
    ]),
  )
}

async function createTables(
  storage: StorageAdapter,
  applications: ApplicationDefinitions,
): Promise<void> {
  try {
    await storage.open(publishApplications(applications))
  } finally {
    await storage.close()
  }
}
