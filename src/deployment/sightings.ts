import type { Release } from './release.ts'

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
