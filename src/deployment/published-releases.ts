import type { CollectionShape } from '../definition/item.ts'
import type { FilterCall, ServedPage } from '../definition/serve.ts'
import { givenConditions } from '../request/given-conditions.ts'
import { fieldOf } from '../request/item-values.ts'
import { equal, type Condition, type StorageQuery } from '../request/query.ts'
import { filterTable } from '../storage/table.ts'
import { deploymentCollections } from './collections.ts'
import { releaseOf, type Release } from './release.ts'
import type { DeploymentStorage, ReleaseStore } from './release-store.ts'

/** A release as its collection publishes it. */
export interface PublishedRelease extends Release {
  /** The package in base64; null before it is built. */
  readonly file: string | null
}

/** Reads stored releases as they are published. */
export interface PublishedReleases {
  page(call: PageCall): Promise<ServedPage<PublishedRelease>>
  /** Returns the release, or undefined. Its file is read only if it is one of the fields. */
  get(releaseId: string, fields: readonly string[]): Promise<PublishedRelease | undefined>
}

type PageCall = Pick<
  FilterCall<CollectionShape>,
  'conditions' | 'where' | 'search' | 'sort' | 'limit' | 'offset' | 'count' | 'fields'
>

const { releases } = deploymentCollections
const ofReleases = {
  collection: releases,
  call: 'the release list',
  fieldOf: (name: string) => fieldOf(releases, name),
}

/** Creates the reads of published releases. Storage makes their pages. */
export function publishedReleases(
  storage: DeploymentStorage,
  store: Pick<ReleaseStore, 'file'>,
): PublishedReleases {
  // `file` is an item-only field, so it is part of a page only for calls in process.
  async function withFile(release: Release, fields: readonly string[]): Promise<PublishedRelease> {
    const isNeeded = fields.includes('file') && release.fileName !== null
    return { ...release, file: isNeeded ? await store.file(release.releaseId) : null }
  }

  async function page(call: PageCall): Promise<ServedPage<PublishedRelease>> {
    const { search, sort, limit = Number.MAX_SAFE_INTEGER, offset, fields } = call
    const equalities = Object.entries(call.conditions).map(([field, value]): Condition =>
      value === null ? { field, is: 'empty' } : equal(field, value as string | boolean),
    )
    const others = call.where === undefined ? [] : givenConditions(ofReleases, call.where)
    const { rows, count } = await filterTable(storage, releases, {
      conditions: [...equalities, ...others],
      search: search ?? null,
      sort,
      limit,
      offset,
      // Whether there is a file is known by its name.
      select: releases.allNames.filter((name) => fields.includes(name) || name === 'fileName'),
      count: call.count,
    })
    const items = await Promise.all(rows.map((row) => withFile(releaseOf(row), fields)))
    return { page: items, ...(count !== null && { count }) }
  }

  return {
    page,
    get: async (releaseId, fields) => {
      const one = { conditions: { releaseId }, where: undefined, search: undefined, sort: [] }
      return (await page({ ...one, limit: 1, offset: 0, count: false, fields })).page[0]
    },
  }
}

/**
 * Returns the order of a page of releases: by date, then by the end of their builds, latest first, then by the
 * beginning of their builds. `defaultSort` can't name `built`, since clients can't read it.
 */
export function byDateAndBuild(sort: StorageQuery['sort']): StorageQuery['sort'] {
  const [first, second] = sort
  const isDefault =
    sort.length === 2 &&
    first?.field === 'releaseDate' &&
    first.descending &&
    second?.field === 'releaseId' &&
    !second.descending
  if (!isDefault) return sort
  return [first, { field: 'built', descending: true }, { ...second, descending: true }]
}
