import type { BuildEvent } from './build-event.ts'
import type { BuildQueue } from './queue.ts'
import type { Release } from './release.ts'
import type { QueuedRelease, ReleaseStore } from './release-store.ts'

/** What the monitor works with. */
export interface HeartbeatMonitorDependencies {
  readonly store: ReleaseStore
  readonly queue: BuildQueue
  /** Whether a solution builds one release at a time. */
  readonly serial: boolean
  readonly lease: number
  /** How many workers may die over a release before it has failed. */
  readonly mostLost: number
  readonly now: () => Date
  readonly tell: (news: BuildEvent) => void
}

const mostWatched = 1_000
const mostReminded = 10

/**
 * Queues builds again whose worker gives no sign of life for a whole lease, and reminds the queue of those
 * that wait as long: it may have lost them. No clock is compared with another: what counts is what has
 * not moved while this process watched.
 */
export function startHeartbeatMonitor(parts: HeartbeatMonitorDependencies): { stop(): void } {
  const { store, queue, lease, serial } = parts
  const building = openSightings<Release>(lease)
  const waiting = openSightings<QueuedRelease>(lease)
  const look = async (): Promise<void> => {
    for (const release of building.unmoved(await store.building(mostWatched))) {
      await takeBack(parts, release)
    }
    const unmoved = waiting.unmoved(await store.queued({ limit: mostWatched, offset: 0 }))
    // Those that wait for the turn of their solution must not keep others from being announced.
    const first = serial ? firstOfEach(unmoved) : unmoved.slice(0, mostReminded)
    for (const { releaseId } of first) await queue.announce({ releaseId })
  }
  let looking: Promise<void> | undefined
  const timer = setInterval(() => {
    looking ??= look()
      .catch(() => undefined)
      .finally(() => {
        looking = undefined
      })
  }, lease / 2)
  timer.unref()
  return {
    stop: () => {
      clearInterval(timer)
    },
  }
}

/** The oldest release of each solution. */
function firstOfEach(releases: readonly QueuedRelease[]): readonly QueuedRelease[] {
  const bySolution = new Map<string, QueuedRelease>()
  for (const release of releases) {
    if (!bySolution.has(release.solutionId)) bySolution.set(release.solutionId, release)
  }
  return [...bySolution.values()]
}

async function takeBack(parts: HeartbeatMonitorDependencies, release: Release): Promise<void> {
  const { store, queue, mostLost, now, tell } = parts
  const { releaseId, attempt, lost } = release
  if (lost + 1 >= mostLost) {
    const end = { built: now().toISOString(), log: release.log }
    const failed = await store.fail(release, `${mostLost} workers have died over it.`, end)
    if (failed !== undefined) tell({ type: 'lost', releaseId, attempt })
    return
  }
  if ((await store.requeue(release)) === undefined) return
  tell({ type: 'lost', releaseId, attempt })
  await queue.announce({ releaseId })
}

/** Remembers how releases were last seen, by the clock of this process only. */
export interface Sightings<Seen> {
  /** Of releases that are seen now, those that have not moved while this process watched for a whole lease. */
  unmoved(releases: readonly Seen[]): readonly Seen[]
}

interface Sighting {
  readonly attempt: number
  readonly beat: number
  readonly at: number
  readonly looks: number
}

// A process that slept did not watch, whatever its clock says: whoever it looks at gets time to move.
const fewestLooks = 3

/** Starts watching. It has to look more than once a lease. */
export function openSightings<Seen extends Pick<Release, 'releaseId' | 'attempt' | 'beat'>>(
  lease: number,
): Sightings<Seen> {
  let seen: ReadonlyMap<string, Sighting> = new Map()
  return {
    unmoved: (releases) => {
      const at = performance.now()
      const next = new Map<string, Sighting>()
      const unmoved = releases.filter(({ releaseId, attempt, beat }) => {
        const last = seen.get(releaseId)
        const isSame = last?.attempt === attempt && last.beat === beat
        const sighting = isSame
          ? { ...last, looks: last.looks + 1 }
          : { attempt, beat, at, looks: 1 }
        next.set(releaseId, sighting)
        return sighting.looks >= fewestLooks && at - sighting.at > lease
      })
      seen = next
      return unmoved
    },
  }
}
