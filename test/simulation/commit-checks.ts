import type { TableView } from '../../src/storage/memory/table.ts'
import { lease } from './application.ts'
import type { Database, State } from './database.ts'
import type { Process } from './machine.ts'
import type { Owner } from './scheduler.ts'
import { promise } from './violation.ts'

type Values = Readonly<Record<string, unknown>>

/** A delivery of the outbox, as the simulation has seen it. */
interface Sent {
  readonly lane: string
  readonly enqueuedAt: number
  committedAt: number | undefined
  begun: boolean
  finished: boolean
}

type Builder = Pick<Process, 'owner' | 'link'>

/** What must hold in each committed state, whatever has happened: checked with each commit. */
export class CommitChecks {
  readonly #database: Database
  readonly #nonces = new Set<string>()
  readonly #removed = new Set<string>()
  readonly #sent = new Map<string, Sent[]>()
  readonly #builders = new Map<string, readonly Builder[]>()
  /** How far the wall clocks of processes may differ. */
  clockDifference = 0

  constructor(database: Database) {
    this.#database = database
    database.onCommit = (views, state) => this.#check(views, state)
  }

  /** Returns whether an entry is stored. */
  hasEntry(nonce: string): boolean {
    return this.#nonces.has(nonce)
  }

  /** Returns the keys of notes that have been removed. */
  get removedNotes(): ReadonlySet<string> {
    return this.#removed
  }

  /** Called by the handler that enqueues a delivery; again if its transaction is repeated. */
  enqueues(nonce: string, lane: string, time: number): void {
    const entry = { lane, enqueuedAt: time, committedAt: undefined, begun: false, finished: false }
    this.#sent.set(nonce, [...(this.#sent.get(nonce) ?? []), entry])
  }

  /** Called when a delivery is sent: those that were committed before it was enqueued are finished. */
  delivers(nonce: string, lane: string): void {
    const own = this.#committed(nonce)
    promise(own !== undefined, 'A delivery is sent that is not committed.', { nonce })
    if (own.begun) return
    own.begun = true
    for (const [other, attempts] of this.#sent) {
      const first = attempts.find(({ committedAt }) => committedAt !== undefined)
      if (first?.lane !== lane || first.finished || first === own) continue
      const isEarlier = (first.committedAt as number) + this.clockDifference + 2 < own.enqueuedAt
      promise(!isEarlier, 'A delivery is sent before an earlier one of its lane.', { nonce, other })
    }
  }

  delivered(nonce: string): void {
    const own = this.#committed(nonce)
    if (own !== undefined) own.finished = true
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

  built(releaseId: string, owner: Owner): void {
    const others = this.#builders.get(releaseId)?.filter((builder) => builder.owner !== owner)
    this.#builders.set(releaseId, others ?? [])
  }

  /** Returns the nonces of committed entries whose delivery was never finished. */
  undelivered(): readonly string[] {
    return [...this.#nonces].filter((nonce) => this.#committed(nonce)?.finished !== true)
  }

  #committed(nonce: string): Sent | undefined {
    return this.#sent.get(nonce)?.find(({ committedAt }) => committedAt !== undefined)
  }

  #check(views: readonly TableView[], state: State): void {
    for (const view of views) {
      const { table } = view.table.collection
      if (table === 'entries') this.#checkEntries(view, state)
      if (table === 'gauges') checkGauges(view, state)
      if (table === 'rowgate_releases') checkReleases(view, state)
      if (table === 'notes')
        for (const [key, row] of view.changes) if (row === null) this.#removed.add(key)
    }
    this.#checkTotals()
  }

  #checkEntries(view: TableView, state: State): void {
    for (const row of view.changes.values()) {
      const nonce = String(row?.['nonce'])
      promise(!this.#nonces.has(nonce), 'A request with an idempotency key has two effects.', row)
      this.#nonces.add(nonce)
      const attempt = this.#sent.get(nonce)?.at(-1)
      if (attempt !== undefined) attempt.committedAt = state.at
    }
  }

  #checkTotals(): void {
    const count = this.#database.rows('totals').reduce((sum, row) => sum + Number(row['count']), 0)
    const entries = this.#nonces.size
    promise(count === entries, 'What one transaction has written is not all there.', {
      count,
      entries,
    })
    const deliveries = this.#database.rows('rowgate_deliveries').length
    promise(deliveries === entries, 'An entry has no delivery.', { deliveries, entries })
  }
}

function before(view: TableView, key: string): Values | undefined {
  return view.table.rows.get(key)
}

function checkGauges(view: TableView, state: State): void {
  for (const [key, row] of view.changes) {
    const last = before(view, key)
    if (last === undefined || row === null) continue
    const isNext = Number(row['value']) === Number(last['value']) + 1
    promise(isNext, 'An update of an older version is stored.', { last, row, at: state.at })
  }
}

function checkReleases(view: TableView, state: State): void {
  for (const [key, row] of view.changes) {
    const last = before(view, key)
    const hasEnded = last?.['status'] === 'built' || last?.['status'] === 'failed'
    promise(!hasEnded || row === null, 'A release that has ended is changed.', { last, row })
  }
  const rows = [...(state.tables.get('rowgate_releases')?.rows.values() ?? [])]
  const building = rows.filter((row) => row['status'] === 'building')
  promise(building.length <= 1, 'A serial solution builds two releases at a time.', building)
}
