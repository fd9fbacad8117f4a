import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod/mini'
import type { ApplicationDefinitions } from '../../definition/application.ts'
import { completeOptions } from '../../checks/options.ts'
import { definitionMistakes, omittedCode } from './definition-data.ts'
import {
  maxDecodedBytes,
  decodeManifest,
  definitionsPath,
  jsonOf,
  manifestPath,
  placeMistake,
  signaturePath,
  type Manifest,
  type ManifestFile,
} from './manifest.ts'
import { mistakesText, PackageError } from './package-error.ts'
import { sha256Of } from './sha256.ts'
import { manifestVerifier, type TrustedKey, type VerifyManifest } from './signature.ts'
import { openZip, type ZipEntry } from './unzip.ts'
import { collectionNames, defaultLimit } from './write-package.ts'

/** The options of {@link readPackage}. */
export interface ReadOptions {
  /**
   * The trusted public keys. A package without a signature of one of them is rejected. Default: every
   * package is accepted, and signatures are not verified.
   */
  readonly trust?: readonly TrustedKey[]
  /** The maximum size of the unpacked package, in bytes. Default: 512 MiB. */
  readonly limit?: number
}

/** The shape of {@link ReadOptions}. The values are checked when they are used. */
export const readShape = {
  trust: z.optional(z.custom<readonly TrustedKey[]>()),
  limit: z._default(z.custom<number>(), defaultLimit),
} satisfies Record<keyof ReadOptions, z.ZodMiniType>

/** A package whose checksums were verified. */
export interface VerifiedPackage {
  readonly manifest: Manifest
  /** The checked definitions, without code. `manifest.code` lists the places of the omitted code. */
  readonly applications: ApplicationDefinitions
  /** The files of the manifest by path. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** `unchecked`: the package has a signature, and `trust` was not given. */
  readonly signature: 'verified' | 'unchecked' | 'absent'
}

/**
 * Reads a package of `definitionBuilder` and verifies it completely. Throws a PackageError that names the
 * invalid file, and a TypeError for invalid options.
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
  // The signature is verified first, so that untrusted content is not parsed.
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
    const limit = maxDecodedBytes(path)
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
    throw new PackageError(signaturePath, 'is not a signature by a trusted key')
  }
  return 'verified'
}

function checkList(manifest: Manifest, entries: ReadonlyMap<string, ZipEntry>): void {
  const paths = manifest.files.map(({ path }) => path)
  const listed = new Set([manifestPath, signaturePath, ...paths])
  for (const path of entries.keys()) {
    if (!listed.has(path)) throw new PackageError(path, 'is not in the manifest')
  }
  for (const path of paths) {
    const mistake = placeMistake(path)
    if (mistake !== undefined) throw new PackageError(path, mistake)
    required(entries, path)
  }
  const head = entries.has(signaturePath) ? [manifestPath, signaturePath] : [manifestPath]
  if (!isDeepStrictEqual([...head, ...paths], [...entries.keys()]) || !isSorted(paths)) {
    throw new PackageError(manifestPath, 'does not list the files in the order of the package')
  }
}

function checkFile({ path, bytes, sha256 }: ManifestFile, entry: ZipEntry): Uint8Array {
  if (entry.size !== bytes) {
    throw new PackageError(path, `has ${entry.size} bytes instead of the ${bytes} in the manifest`)
  }
  const unpacked = entry.unpack()
  if (sha256Of(unpacked) !== sha256) {
    throw new PackageError(path, 'does not match its checksum in the manifest')
  }
  return unpacked
}

function definitionsOf(
  manifest: Manifest,
  files: ReadonlyMap<string, Uint8Array>,
): ApplicationDefinitions {
  const applications = readDefinitions(required(files, definitionsPath))
  if (!isDeepStrictEqual(collectionNames(applications), { ...manifest.applications })) {
    throw new PackageError(manifestPath, 'lists collections that differ from the definitions')
  }
  if (!isDeepStrictEqual(omittedCode(applications), manifest.code)) {
    throw new PackageError(manifestPath, 'lists omitted code that differs from the definitions')
  }
  return applications
}

function readDefinitions(bytes: Uint8Array): ApplicationDefinitions {
  const json = jsonOf(bytes, definitionsPath)
  const mistakes = definitionMistakes(json)
  if (mistakes.length === 0) return json as ApplicationDefinitions
  throw new PackageError(definitionsPath, `is invalid: ${mistakesText(mistakes)}`)
}

function required<Value>(entries: ReadonlyMap<string, Value>, path: string): Value {
  const entry = entries.get(path)
  if (entry === undefined) throw new PackageError(path, 'is missing')
  return entry
}

function isSorted(paths: readonly string[]): boolean {
  // Stryker disable next-line EqualityOperator: no path is contained twice
  return paths.every((path, index) => index === 0 || (paths[index - 1] as string) < path)
}
