import type { TableView } from '../../src/storage/memory/table.ts'
import { lease } from './application.ts'
import type { State } from './database.ts'
import type { Process } from './machine.ts'
import type { Owner } from './scheduler.ts'
import { promise } from './violation.ts'

type Values = Readonly<Record<string, unknown>>

/** The process that builds a release. */
export type Builder = Pick<Process, 'owner' | 'link'>

/** A job that a worker has claimed, and since when it has made no progress. */
interface Claimed {
  readonly table: string
  readonly since: number
}

const jobs: Readonly<Record<string, { readonly state: string; readonly claimed: string }>> = {
  rowgate_releases: { state: 'status', claimed: 'building' },
  rowgate_deliveries: { state: 'state', claimed: 'sending' },
}

// A process that is suspended may keep its rows locked for 8 seconds.
const startsWithin = 20_000
const takenOverWithin = 20_000

/** What must hold of the jobs in storage, releases and deliveries: checked with each commit, and while time passes. */
export class JobChecks {
  readonly #claimed = new Map<string, Claimed>()
  readonly #sending = new Map<string, Set<string>>()
  readonly #builders = new Map<string, readonly Builder[]>()
  readonly #queueLimit: number
  #idleSince: number | undefined

  constructor(queueLimit: number) {
    this.#queueLimit = queueLimit
  }

  /** Called when a process begins a build: no other process that is well may be building it. */
  builds(releaseId: string, process: Builder, time: number): void {
    for (const { owner, link } of this.#builders.get(releaseId) ?? []) {
      const isWell =
        owner.isAlive && owner !== process.owner && link.troubledUntil + 2 * lease < time
      promise(!isWell, 'A release is built again, although its worker is well.', { releaseId })
    }
    this.#builders.set(releaseId, [...(this.#builders.get(releaseId) ?? []), process])
  }

  /** Called when a build has ended, or was stopped. */
  built(releaseId: string, owner: Owner): void {
    const others = this.#builders.get(releaseId)?.filter((builder) => builder.owner !== owner)
    this.#builders.set(releaseId, others ?? [])
  }

  /** Returns whether a process builds a release. */
  isBuilding(owner: Owner): boolean {
    return [...this.#builders.values()].flat().some((builder) => builder.owner === owner)
  }

  /** Checks the changes of a commit. */
  check(view: TableView, state: State): void {
    const { table } = view.table.collection
    const kind = jobs[table]
    if (kind === undefined) return
    for (const [key, row] of view.changes) {
      const last = view.table.rows.get(key)
      const isClaimed = row?.[kind.state] === kind.claimed
      if (isClaimed && last !== undefined) requireNext(last, row, kind)
      if (isClaimed) this.#claimed.set(`${table} ${key}`, { table, since: state.at })
      else this.#claimed.delete(`${table} ${key}`)
      if (table === 'rowgate_deliveries') this.#checkLane(key, row ?? last ?? {}, isClaimed)
      else if (last !== undefined) requireOpen(last, row)
    }
    if (table === 'rowgate_releases') this.#checkReleases(state)
  }

  /**
   * Checks what must have happened by a time. `wellSince` is the time since which a process has worked without faults;
   * undefined if there is none.
   */
  checkWaiting(time: number, wellSince: number | undefined): void {
    const isLate = (since: number, within: number): boolean =>
      wellSince !== undefined && time - Math.max(since, wellSince) > within
    for (const [job, { table, since }] of this.#claimed) {
      const isLost = isLate(since, takenOverWithin)
      promise(!isLost, 'A job of a worker that was lost is not taken over.', { job, since, time })
      if (table === 'rowgate_releases') this.#checkHeartbeat(job, since, time)
    }
    const idleSince = this.#idleSince ?? time
    const isIdle = isLate(idleSince, startsWithin)
    promise(!isIdle, 'A queued release is not built, although no other one is.', { idleSince })
  }

  #checkHeartbeat(job: string, since: number, time: number): void {
    if (time - since < lease) return
    for (const [releaseId, builders] of this.#builders) {
      const [builder] = builders
      if (builder === undefined || builders.length > 1 || !job.includes(releaseId)) continue
      const { owner, link } = builder
      const isWell = owner.isAlive && link.troubledUntil < since
      promise(!isWell, 'A build sends no heartbeats, although its worker is well.', { job, since })
    }
  }

  #checkLane(key: string, { lane }: Values, isSending: boolean): void {
    if (typeof lane !== 'string') return
    const sending = this.#sending.get(lane) ?? new Set()
    this.#sending.set(lane, sending)
    if (isSending) sending.add(key)
    else sending.delete(key)
    promise(sending.size <= 1, 'A lane sends two deliveries at a time.', {
      lane,
      ids: [...sending],
    })
  }

  #checkReleases(state: State): void {
    const rows = [...(state.tables.get('rowgate_releases')?.rows.values() ?? [])]
    const building = rows.filter(({ status }) => status === 'building')
    // Those that workers have given back are queued beyond the limit.
    const added = rows.filter(({ status, attempt }) => status === 'queued' && Number(attempt) === 0)
    promise(added.length <= this.#queueLimit, 'More releases are queued than the limit.', added)
    promise(building.length <= 1, 'A serial solution builds two releases at a time.', building)
    const isIdle = building.length === 0 && rows.some(({ status }) => status === 'queued')
    this.#idleSince = isIdle ? (this.#idleSince ?? state.at) : undefined
  }
}

/** Checks the number of a claim, by which a worker that has lost its claim is recognized. */
function requireNext(
  last: Values,
  row: Values,
  { state, claimed }: { state: string; claimed: string },
): void {
  const isNew = last[state] !== claimed
  const expected = Number(last['attempt']) + (isNew ? 1 : 0)
  promise(Number(row['attempt']) === expected, 'A claim does not have the next number.', {
    ...{ last, row },
  })
}

function requireOpen(last: Values, row: Values | null): void {
  const hasEnded = last['status'] === 'built' || last['status'] === 'failed'
  promise(!hasEnded || row === null, 'A release that has ended is changed.', { last, row })
}
