import type { Table } from '../storage/table.ts'

/** How many releases of a solution may be open, and how many requests wait with one that is not stored yet. */
export interface OpenLimit {
  readonly max: number
  readonly waiting: () => number
}

/** Any number of open releases. */
export const noOpenLimit: OpenLimit = { max: Infinity, waiting: () => 0 }

/** The error of a solution that has too many open releases. Its message is for clients. */
export class OpenReleasesError extends Error {
  constructor(maxOpen: number) {
    super(
      `The solution has ${maxOpen} open releases, which is the maximum. Wait until one of them is built.`,
    )
    this.name = 'OpenReleasesError'
  }
}

/** Rejects with an {@link OpenReleasesError} if the solution may not have another open release. */
export async function requireOpen(
  releases: Pick<Table, 'count'>,
  solutionId: string,
  { max, waiting }: OpenLimit,
): Promise<void> {
  if (max === Infinity) return
  // Counted first: a release that is stored meanwhile counts twice, and never not at all.
  const unstored = waiting()
  const queued = await releases.count({ solutionId, status: 'queued' })
  const building = await releases.count({ solutionId, status: 'building' })
  if (unstored + queued + building >= max) throw new OpenReleasesError(max)
}
