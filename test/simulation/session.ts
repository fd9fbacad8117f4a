import type { PublishedCollection } from '../../src/definition/published.ts'
import type { MeetsThrough } from '../../src/request/meets.ts'
import { throughTables } from '../../src/storage/memory/shared-table.ts'
import {
  deleteRow,
  insertRow,
  pageOf,
  updateRow,
  viewOfTable,
  type Table,
  type TableView,
} from '../../src/storage/memory/table.ts'
import {
  StorageError,
  type Condition,
  type Row,
  type StoragePage,
  type StorageQuery,
} from '../../src/storage/adapter.ts'
import { tableName, tableOf, type Database, type State } from './database.ts'

/** Thrown inside a statement that waits for a row. */
export class Waits extends Error {}

/** A transaction of the database. */
export class Session {
  readonly process: object
  readonly held = new Set<string>()
  readonly #database: Database
  readonly #views = new Map<string, TableView>()
  readonly #through: MeetsThrough
  #state: State | undefined
  #isEnded = false
  #hasFailed = false
  /** Called when a row that the statement in progress waits for is free. */
  retry: () => void = () => undefined

  constructor(database: Database, process: object) {
    this.#database = database
    this.process = process
    this.#through = throughTables(
      (collection) => this.#view(collection),
      () => undefined,
    )
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  filter(collection: PublishedCollection, query: StorageQuery): StoragePage {
    this.#require()
    const page = pageOf(this.#view(collection), query)
    if (query.lock === true)
      for (const row of page.rows) this.#take(collection, keyOf(collection, row))
    return page
  }

  insert(collection: PublishedCollection, given: Row): Row {
    this.#require()
    const view = this.#view(collection)
    const name = tableName(collection)
    const last = this.#database.sequences.get(name) ?? 0n
    if (last > view.last) view.last = last
    const trial: TableView = {
      ...view,
      changes: new Map(view.changes),
      uniques: view.uniques.map((one) => new Map(one)),
    }
    const row = insertRow(trial, given)
    this.#database.sequences.set(name, trial.last)
    if (collection.key.length === 0) return insertRow(view, row)
    const key = keyOf(collection, row)
    this.#lock(`${name} ${key}`)
    for (const values of uniqueValues(view.table, row)) this.#lock(`${name} unique ${values}`)
    this.#rejectCommitted(view, key, row)
    return insertRow(view, row)
  }

  update(
    collection: PublishedCollection,
    conditions: readonly Condition[],
    changes: Row,
  ): Row | undefined {
    this.#require()
    const before = this.#find(collection, conditions)
    if (before === undefined) return undefined
    const view = this.#view(collection)
    const row = { ...before, ...changes }
    const name = tableName(collection)
    for (const values of uniqueValues(view.table, row)) this.#lock(`${name} unique ${values}`)
    this.#rejectCommitted(view, keyOf(collection, before), row)
    return updateRow(view, conditions, changes)
  }

  delete(collection: PublishedCollection, conditions: readonly Condition[]): Row | undefined {
    this.#require()
    const before = this.#find(collection, conditions)
    return before === undefined ? undefined : deleteRow(this.#view(collection), conditions)
  }

  commit(at: number): void {
    this.#require()
    this.#isEnded = true
    this.#database.commit([...this.#views.values()], at)
    this.#database.end(this)
  }

  /** Undoes everything. Later statements are rejected. */
  rollback(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#database.end(this)
  }

  /** The transaction can only be rolled back. */
  fail(): void {
    this.#hasFailed = true
  }

  #require(): void {
    if (this.#isEnded) throw new StorageError('unavailable', { message: 'the connection is lost' })
    if (this.#hasFailed) throw new StorageError('unavailable', { message: 'it has failed before' })
  }

  #view(collection: PublishedCollection): TableView {
    const name = tableName(collection)
    const known = this.#views.get(name)
    if (known !== undefined) return known
    this.#state ??= this.#database.latest
    const view = viewOfTable(tableOf(this.#state, collection), this.#through)
    this.#views.set(name, view)
    return view
  }

  #find(collection: PublishedCollection, conditions: readonly Condition[]): Row | undefined {
    const query = { conditions, search: null, sort: [], limit: 1, offset: 0, select: [] }
    const [row] = pageOf(this.#view(collection), {
      ...query,
      select: names(collection),
      count: false,
    }).rows
    if (row !== undefined) this.#take(collection, keyOf(collection, row))
    return row
  }

  /** Locks a row that exists. Fails if it was changed since the transaction began. */
  #take(collection: PublishedCollection, key: string): void {
    this.#lock(`${tableName(collection)} ${key}`)
    const view = this.#view(collection)
    const current = tableOf(this.#database.latest, collection).rows.get(key)
    if (view.changes.has(key) || current === view.table.rows.get(key)) return
    this.#hasFailed = true
    throw new StorageError('unavailable', { message: 'a row was changed', isConflict: true })
  }

  #lock(row: string): void {
    if (!this.#database.lock(row, this, () => this.retry())) throw new Waits(row)
  }

  /** Rejects values that a transaction has committed which this one does not see. */
  #rejectCommitted({ table, changes }: TableView, key: string, row: Row): void {
    const { collection } = table
    const current = tableOf(this.#database.latest, collection)
    const isUnseen = (other: string): boolean =>
      !changes.has(other) && current.rows.get(other) !== table.rows.get(other)
    if (current.rows.has(key) && isUnseen(key)) throw duplicate(collection.key)
    for (const [index, fields] of collection.uniques.entries()) {
      const values = valuesOf(fields, row)
      const owner = values === undefined ? undefined : current.uniques[index]?.get(values)
      if (owner !== undefined && owner !== key && isUnseen(owner)) throw duplicate(fields)
    }
  }
}

function duplicate(fields: readonly { readonly name: string }[]): StorageError {
  return new StorageError('duplicate', { fields: fields.map(({ name }) => name) })
}

function names(collection: PublishedCollection): readonly string[] {
  return collection.fields.map(({ name }) => name)
}

function keyOf({ key }: PublishedCollection, row: Row): string {
  return JSON.stringify(key.map(({ name }) => row[name] ?? null))
}

function valuesOf(fields: readonly { readonly name: string }[], row: Row): string | undefined {
  const values = fields.map(({ name }) => row[name] ?? null)
  return values.includes(null) ? undefined : JSON.stringify(values)
}

function uniqueValues({ collection }: Table, row: Row): readonly string[] {
  return collection.uniques.flatMap((fields, index) => {
    const values = valuesOf(fields, row)
    return values === undefined ? [] : [`${index} ${values}`]
  })
}
