import { allRows } from '../kit/storages.ts'
import { deploymentCollections } from '../../src/deployment/collections.ts'
import { releaseOf, type Release } from '../../src/deployment/release.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { sha256Of } from '../kit/builders.ts'
import { buildsIn } from './processes.ts'

/** What is wrong with the releases in a storage, and how often builds were begun again. */
export interface Balance {
  readonly releases: readonly Release[]
  /** Releases that were accepted and have no end, or no whole package where they should have one. */
  readonly lost: readonly string[]
  /** Packages that nothing was built for, and attempts that were built twice or without having been counted. */
  readonly doubled: readonly string[]
}

const { releases, packages } = deploymentCollections

/** Counts: each accepted release has one end, was built once an attempt, and has the package of its last one. */
export async function balance(
  storage: StorageAdapter,
  { accepted, log }: { readonly accepted: readonly string[]; readonly log: string },
): Promise<Balance> {
  const all = (await allRows(storage, releases)).map(releaseOf)
  const files = await allRows(storage, packages)
  const builds = buildsIn(log)
  const known = new Set(all.map(({ releaseId }) => releaseId))
  const isWhole = ({ releaseId, attempt, status }: Release): boolean => {
    const found = files.filter((file) => file['releaseId'] === releaseId)
    if (status === 'failed') return found.length === 0
    if (status !== 'built' || found.length !== 1) return false
    const bytes = Buffer.from(String(found[0]?.['file']), 'base64')
    return (
      bytes.toString() === `${releaseId} ${attempt}` &&
      found[0]?.['sha256'] === sha256Of(bytes) &&
      found[0]['bytes'] === bytes.byteLength
    )
  }
  const isOnce = ({ releaseId, attempt, lost }: Release): boolean => {
    const attempts = (builds.get(releaseId) ?? []).map((line) => Number(line.split(' ')[0]))
    return (
      new Set(attempts).size === attempts.length &&
      attempts.length <= lost + 1 &&
      attempt <= lost + 1
    )
  }
  const built = new Set(all.filter(({ status }) => status === 'built').map((one) => one.releaseId))
  return {
    releases: all,
    lost: [
      ...accepted.filter((releaseId) => !known.has(releaseId)),
      ...all.filter((release) => !isWhole(release)).map(({ releaseId }) => releaseId),
    ],
    doubled: [
      ...files.map((file) => String(file['releaseId'])).filter((one) => !built.has(one)),
      ...all.filter((release) => !isOnce(release)).map(({ releaseId }) => releaseId),
      ...[...builds.keys()].filter((releaseId) => !known.has(releaseId)),
    ],
  }
}
