import type { TableView } from '../../src/storage/memory/table.ts'
import type { Loads } from './application.ts'
import type { Database, State } from './database.ts'
import { JobChecks } from './job-checks.ts'
import type { Owner } from './scheduler.ts'
import { promise } from './violation.ts'

type Values = Readonly<Record<string, unknown>>

/** A delivery of the outbox, as the simulation has seen it. */
interface Sent {
  readonly lane: string
  readonly enqueuedAt: number
  /** The process that has enqueued it. */
  readonly by: Owner
  committedAt: number | undefined
  begun: boolean
  finished: boolean
}

/** What must hold in each committed state, whatever has happened: checked with each commit. */
export class CommitChecks {
  readonly #database: Database
  readonly #nonces = new Set<string>()
  readonly #marks = new Set<string>()
  readonly #removed = new Set<string>()
  readonly #sent = new Map<string, Sent[]>()
  readonly jobs: JobChecks
  /** How far the wall clocks of processes may differ. */
  clockDifference = 0

  constructor(database: Database, { queueLimit }: Pick<Loads, 'queueLimit'>) {
    this.#database = database
    this.jobs = new JobChecks(queueLimit)
    database.onCommit = (views, state) => this.#check(views, state)
  }

  /** Returns whether an entry is stored. */
  hasEntry(nonce: string): boolean {
    return this.#nonces.has(nonce)
  }

  /** Returns whether a mark is stored. */
  hasMark(nonce: string): boolean {
    return this.#marks.has(nonce)
  }

  /** Returns the keys of notes that have been removed. */
  get removedNotes(): ReadonlySet<string> {
    return this.#removed
  }

  /** Called by the handler that enqueues a delivery; again if its transaction is repeated. */
  enqueues(nonce: string, lane: string, { time, by }: { time: number; by: Owner }): void {
    const entry = {
      lane,
      by,
      enqueuedAt: time,
      committedAt: undefined,
      begun: false,
      finished: false,
    }
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
      // A process never goes back, whatever its clock does.
      const difference = first.by === own.by ? 0 : this.clockDifference + 2
      const isEarlier = (first.committedAt as number) + difference < own.enqueuedAt
      promise(!isEarlier, 'A delivery is sent before an earlier one of its lane.', { nonce, other })
    }
  }

  delivered(nonce: string): void {
    const own = this.#committed(nonce)
    if (own !== undefined) own.finished = true
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
      if (table === 'marks') this.#checkMarks(view)
      if (table === 'gauges') checkGauges(view, state)
      this.jobs.check(view, state)
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

  #checkMarks(view: TableView): void {
    for (const row of view.changes.values()) {
      const nonce = String(row?.['nonce'])
      promise(!this.#marks.has(nonce), 'A request that was sent once has two effects.', row)
      this.#marks.add(nonce)
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
