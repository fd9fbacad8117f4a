import { mistaken } from '../checks/mistakes.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { encodeRow } from '../request/serialize.ts'
import type { StorageReader } from '../storage/adapter.ts'
import type { PackageFile } from './builder.ts'
import { definitionsFile } from './package/write-package.ts'
import type { DeploymentStorage } from './release-store.ts'
import type { Solution } from './solution.ts'

const pageSize = 500

/**
 * Returns the collections whose data snapshots contain, by paths such as `shop/products`. Throws a TypeError
 * for a collection that is not stored.
 */
export function snapshotCollections(
  snapshotData: readonly string[],
  collections: readonly PublishedCollection[],
): readonly PublishedCollection[] {
  const found = snapshotData.map((path) =>
    collections.find(({ application, name }) => `${application}/${name}` === path),
  )
  const mistakes = snapshotData
    .filter((_, index) => found[index] === undefined)
    .map((path) => ({
      place: 'deployment.snapshotData',
      advice: `there is no collection ${path} in storage`,
    }))
  if (mistakes.length > 0) throw mistaken(mistakes)
  return found.filter((collection) => collection !== undefined)
}

/**
 * Returns the files of a snapshot: the definitions of the solution, and the data of the given collections
 * with one JSON object per line. All data is read in one transaction.
 */
export async function takeSnapshot(
  storage: DeploymentStorage,
  { applications }: Solution,
  collections: readonly PublishedCollection[],
): Promise<readonly PackageFile[]> {
  const definitions = definitionsFile(applications)
  const own = collections.filter(({ application }) => Object.hasOwn(applications, application))
  if (own.length === 0) return [definitions]
  const data = await storage.transaction({ mode: 'read', brief: false }, async (transaction) => {
    const files: PackageFile[] = []
    for (const collection of own) {
      const { application, name } = collection
      const lines = await linesOf(transaction, collection)
      files.push({
        path: `data/${application}/${name}.ndjson`,
        bytes: Buffer.from(lines),
      })
    }
    return files
  })
  return [definitions, ...data]
}

/** Returns the JSON that is stored of a snapshot: the contents of its files by path. */
export function snapshotText(files: readonly PackageFile[]): string {
  const contents = files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()] as const)
  return JSON.stringify(Object.fromEntries(contents))
}

async function linesOf(reader: StorageReader, collection: PublishedCollection): Promise<string> {
  const { allNames: select, tieBreakers } = collection
  const sort = tieBreakers.map(({ name }) => ({ field: name, descending: false }))
  const pages: string[] = []
  for (let offset = 0; ; offset += pageSize) {
    const page = { conditions: [], search: null, sort, limit: pageSize, offset, select }
    const { rows } = await reader.filter(collection, { ...page, count: false })
    pages.push(rows.map((row) => `${encodeRow(collection, row, select)}\n`).join(''))
    if (rows.length < pageSize) return pages.join('')
  }
}
