import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { ApplicationDefinitions } from '../../definition/application.ts'
import { completeOptions } from '../../definition/options.ts'
import { applicationsOf, omittedCode } from './definition-data.ts'
import {
  decodedLimit,
  decodeManifest,
  definitionsPath,
  jsonOf,
  manifestPath,
  signaturePath,
  type Manifest,
  type ManifestFile,
} from './manifest.ts'
import { PackageError } from './package-error.ts'
import { sha256Of } from './sha256.ts'
import { manifestVerifier, type TrustedKey, type VerifyManifest } from './signature.ts'
import { openZip, type ZipEntry } from './unzip.ts'
import { collectionNames, defaultLimit } from './write-package.ts'

/** What a package has to be. */
export interface ReadOptions {
  /**
   * The public keys whose packages are used: without the signature of one of them a package is
   * refused. Default: every package is used, and a signature is not looked at.
   */
  readonly trust?: readonly TrustedKey[]
  /** The most bytes of the package, unpacked. Default: 512 MiB. */
  readonly limit?: number
}

/** The shape of {@link ReadOptions}. What trusted keys have to be is checked when they are used. */
export const readShape = {
  trust: z.custom<readonly TrustedKey[]>().optional(),
  limit: z.custom<number>().default(defaultLimit),
} satisfies Record<keyof ReadOptions, z.ZodType>

/** A package of which every byte is the one that was built. */
export interface VerifiedPackage {
  readonly manifest: Manifest
  /** The definitions, checked. Code is not among them: `manifest.code` says what is missing. */
  readonly applications: ApplicationDefinitions
  /** Every file of the manifest by path. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** `unchecked`: there is a signature, and no key was trusted. */
  readonly signature: 'verified' | 'unchecked' | 'absent'
}

/**
 * Opens a package of the definition builder, and verifies it completely. Throws a PackageError that says
 * what is wrong with which file, and a TypeError for trusted keys that are none.
 */
export function readPackage(bytes: Uint8Array, options: ReadOptions = {}): VerifiedPackage {
  const { trust, limit } = completeOptions('readPackage', z.strictObject(readShape), options)
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new TypeError('limit: must be a whole number of bytes, at least 1')
  }
  const verify = trust === undefined ? undefined : manifestVerifier(trust)
  const entries = new Map(openZip(bytes, limit).map((entry) => [entry.path, entry]))
  checkSizes(entries)
  const manifestBytes = required(entries, manifestPath).unpack()
  // Before anything else is looked at: what nobody trusted has signed is not parsed.
  const signature = checkSignature(manifestBytes, entries.get(signaturePath), verify)
  const manifest = decodeManifest(manifestBytes)
  checkList(manifest, entries)
  const files = new Map(
    manifest.files.map((file) => [file.path, checkFile(file, required(entries, file.path))]),
  )
  return { manifest, applications: definitionsOf(manifest, files), files, signature }
}

function checkSizes(entries: ReadonlyMap<string, ZipEntry>): void {
  for (const { path, size } of entries.values()) {
    const limit = decodedLimit(path)
    if (size > limit) throw new PackageError(path, `has more than ${limit} bytes`)
  }
}

function checkSignature(
  manifest: Uint8Array,
  signature: ZipEntry | undefined,
  verify: VerifyManifest | undefined,
): VerifiedPackage['signature'] {
  if (verify === undefined) return signature === undefined ? 'absent' : 'unchecked'
  if (signature === undefined) throw new PackageError(null, 'is not signed')
  if (!verify(manifest, signature.unpack())) {
    throw new PackageError(signaturePath, 'is not the signature of a trusted key')
  }
  return 'verified'
}

function checkList(manifest: Manifest, entries: ReadonlyMap<string, ZipEntry>): void {
  const paths = manifest.files.map(({ path }) => path)
  const listed = new Set([manifestPath, signaturePath, ...paths])
  for (const path of entries.keys()) {
    if (!listed.has(path)) throw new PackageError(path, 'is not in the manifest')
  }
  for (const path of paths) required(entries, path)
  const head = entries.has(signaturePath) ? [manifestPath, signaturePath] : [manifestPath]
  if (!isDeepStrictEqual([...head, ...paths], [...entries.keys()]) || !isSorted(paths)) {
    throw new PackageError(manifestPath, 'does not list the files in their order')
  }
}

function checkFile({ path, bytes, sha256 }: ManifestFile, entry: ZipEntry): Uint8Array {
  if (entry.size !== bytes) {
    throw new PackageError(path, `has ${entry.size} bytes; the manifest says ${bytes}`)
  }
  const unpacked = entry.unpack()
  if (sha256Of(unpacked) !== sha256) {
    throw new PackageError(path, 'has another checksum than the manifest says')
  }
  return unpacked
}

function definitionsOf(
  manifest: Manifest,
  files: ReadonlyMap<string, Uint8Array>,
): ApplicationDefinitions {
  const applications = readDefinitions(required(files, definitionsPath))
  if (!isDeepStrictEqual(collectionNames(applications), { ...manifest.applications })) {
    throw new PackageError(manifestPath, 'lists other collections than the definitions have')
  }
  if (!isDeepStrictEqual(omittedCode(applications), manifest.code)) {
    throw new PackageError(manifestPath, 'lists other code than the definitions mark as omitted')
  }
  return applications
}

function readDefinitions(bytes: Uint8Array): ApplicationDefinitions {
  const json = jsonOf(bytes, definitionsPath)
  try {
    return applicationsOf(json)
  } catch (cause) {
    throw new PackageError(definitionsPath, 'holds definitions that can not be used', { cause })
  }
}

function required<Value>(entries: ReadonlyMap<string, Value>, path: string): Value {
  const entry = entries.get(path)
  if (entry === undefined) throw new PackageError(path, 'is missing')
  return entry
}

function isSorted(paths: readonly string[]): boolean {
  return paths.every((path, index) => index === 0 || (paths[index - 1] as string) < path)
}
