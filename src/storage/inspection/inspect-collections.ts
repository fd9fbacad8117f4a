import type { PublishedCollection, Reference } from '../../definition/published.ts'
import { isStorageError } from '../adapter.ts'
import { unreadProblem, type StorageProblem } from '../problem.ts'

/** Adds problems to those that were found. */
export type AddProblems = (problems: readonly StorageProblem[]) => void

/** How the rows of collections are inspected. A function rejects if no other collection can be inspected, either. */
export interface RowInspection {
  /** Adds the problems of the rows of a collection. Returns why they can't all be read; undefined if they were read. */
  rows(collection: PublishedCollection, add: AddProblems): Promise<string | undefined>
  /** Adds the problem about rows that refer to missing rows. Returns why the rows can't be compared. */
  references(reference: Reference, add: AddProblems): Promise<string | undefined>
}

/**
 * Returns the problems of collections, in their order. That one can't be read, or not in time, is a problem of it, and
 * the others are inspected.
 */
export async function inspectCollections(
  collections: readonly PublishedCollection[],
  { rows, references }: RowInspection,
): Promise<readonly StorageProblem[]> {
  const found = collections.map((collection) => ({ collection, problems: [] as StorageProblem[] }))
  const unread = new Set<PublishedCollection>()
  for (const { collection, problems } of found) {
    const reason = await rows(collection, (more) => void problems.push(...more))
    if (reason === undefined) continue
    unread.add(collection)
    problems.push(unreadProblem(collection, reason))
  }
  // Afterwards, so that no row is compared with a collection that can't be read.
  for (const { collection, problems } of found) {
    for (const reference of collection.references) {
      const { from, to } = reference
      if (!collections.includes(to) || unread.has(from) || unread.has(to)) continue
      const reason = await references(reference, (more) => void problems.push(...more))
      if (reason !== undefined) problems.push(unreadProblem(collection, reason, reference))
    }
  }
  return found.flatMap(({ problems }) => problems)
}

/** Returns why rows can't be read, by the error of reading them. */
export function reasonOf(error: unknown): string {
  const cause = isStorageError(error) ? (error.cause ?? error) : error
  return cause instanceof Error ? cause.message : String(cause)
}
