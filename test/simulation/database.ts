import type { PublishedCollection } from '../../src/definition/published.ts'
import type { MeetsThrough } from '../../src/request/meets.ts'
import { throughTables } from '../../src/storage/memory/shared-table.ts'
import {
  changedTable,
  emptyTable,
  pageOf,
  viewOfTable,
  type Table,
  type TableView,
} from '../../src/storage/memory/table.ts'
import type { StoragePage, StorageQuery } from '../../src/storage/adapter.ts'
import { Session } from './session.ts'

const ownTables = ['rowgate_users', 'rowgate_keys']

/** All rows after a commit. They do not change any more. */
export interface State {
  readonly number: number
  readonly at: number
  readonly tables: ReadonlyMap<string, Table>
}

/** A row that a transaction holds, and those that wait for it. */
interface Lock {
  holder: Session
  readonly waiting: { readonly session: Session; readonly retry: () => void }[]
}

/**
 * A database that several processes use. A transaction sees the state of its first statement, locks the rows that it
 * writes, and fails if one of them was changed since: as `repeatable read` of PostgreSQL.
 */
export class Database {
  readonly #states: State[] = [{ number: 0, at: 0, tables: new Map() }]
  readonly #ownCommits: { readonly number: number; readonly at: number }[] = []
  readonly #locks = new Map<string, Lock>()
  /** The last number that was generated for each table. They are not rolled back. */
  readonly sequences = new Map<string, bigint>()
  /** The number of the last commit that changed each table. */
  readonly changed = new Map<string, number>()
  readonly sessions = new Set<Session>()
  /** Called with the rows of each commit. */
  onCommit: (views: readonly TableView[], state: State) => void = () => undefined

  get latest(): State {
    return this.#states[this.#states.length - 1] as State
  }

  /** The number of the last commit that changed users or keys. */
  get changedOwn(): number {
    return this.#ownCommits.at(-1)?.number ?? 0
  }

  /** Returns the time of the first commit of users or keys after one; undefined if there is none. */
  firstOwnAfter(number: number): number | undefined {
    return this.#ownCommits.find((commit) => commit.number > number)?.at
  }

  /** Creates the tables that do not exist. */
  open(collections: readonly PublishedCollection[]): void {
    const { number, at, tables } = this.latest
    const created = new Map(tables)
    for (const each of collections) {
      if (!created.has(tableName(each))) created.set(tableName(each), emptyTable(each))
    }
    if (created.size > tables.size) this.#states.push({ number, at, tables: created })
  }

  begin(process: object): Session {
    const session = new Session(this, process)
    this.sessions.add(session)
    return session
  }

  /** Returns the state that a replica with a delay has, at least a commit. */
  stateAt(time: number, atLeast: number): State {
    const states = this.#states
    let index = states.length - 1
    while (index > 0 && (states[index] as State).at > time) {
      if ((states[index] as State).number <= atLeast) break
      index -= 1
    }
    return states[index] as State
  }

  /** Removes states that nobody reads any more. */
  forgetBefore(time: number): void {
    const first = this.#states.findIndex((state) => state.at >= time)
    if (first > 1) this.#states.splice(0, first - 1)
  }

  /** Reads a page of a state. */
  read(state: State, collection: PublishedCollection, query: StorageQuery): StoragePage {
    const view = (of: PublishedCollection): TableView => viewOfTable(tableOf(state, of), meets)
    const meets: MeetsThrough = throughTables(view, () => undefined)
    return pageOf(view(collection), query)
  }

  /** Returns the rows of a table, for invariants. */
  rows(table: string): readonly Readonly<Record<string, unknown>>[] {
    return [...(this.latest.tables.get(table)?.rows.values() ?? [])]
  }

  /** Locks a row. Returns false if another transaction holds it; `retry` is called when that has ended. */
  lock(row: string, session: Session, retry: () => void): boolean {
    const lock = this.#locks.get(row)
    if (lock === undefined) {
      this.#locks.set(row, { holder: session, waiting: [] })
      session.held.add(row)
      return true
    }
    if (lock.holder === session) return true
    lock.waiting.push({ session, retry })
    return false
  }

  /** Commits the changes of a transaction, which holds the locks of all its rows. */
  commit(views: readonly TableView[], at: number): void {
    const written = views.filter((view) => view.changes.size > 0)
    if (written.length === 0) return
    const { number, tables } = this.latest
    const next = new Map(tables)
    for (const view of written) {
      const name = tableName(view.table.collection)
      const current = next.get(name) as Table
      next.set(name, changedTable({ ...view, table: { ...current, readers: 1 } }))
      this.changed.set(name, number + 1)
    }
    const state = { number: number + 1, at, tables: next }
    const names = written.map((view) => tableName(view.table.collection))
    if (names.some((name) => ownTables.includes(name))) this.#ownCommits.push(state)
    this.#states.push(state)
    this.onCommit(written, state)
  }

  /** Ends a transaction: whoever waits for its rows tries again. */
  end(session: Session): void {
    this.sessions.delete(session)
    for (const row of session.held) {
      const lock = this.#locks.get(row)
      this.#locks.delete(row)
      for (const { session: other, retry } of lock?.waiting ?? []) if (!other.isEnded) retry()
    }
    session.held.clear()
  }
}

/** Returns the name of the table of a collection. */
export function tableName(collection: PublishedCollection): string {
  return collection.table.toLowerCase()
}

/** Returns the table of a collection in a state. */
export function tableOf(state: State, collection: PublishedCollection): Table {
  const table = state.tables.get(tableName(collection))
  if (table === undefined) throw new Error(`There is no table ${collection.table}.`)
  return table
}
