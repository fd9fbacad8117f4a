import { withoutUndefined } from '../../checks/options.ts'
import { requirePlainObject } from '../../checks/plain-object.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { throughTargets } from '../../definition/through.ts'
import { everyCondition, type Condition } from '../../request/query.ts'
import { throughIn } from '../../request/rows.ts'
import { uniquelyNamed } from '../../workload.ts'
import { StorageError, tableIn, type StorageAdapter } from '../adapter.ts'
import { homeLookup, type WithHomes } from '../homes.ts'
import { markSelfChecking } from '../layers/self-checking.ts'
import { completeStorage } from '../layers/layers.ts'
import { reasonOf } from '../inspection/inspect-collections.ts'
import { inspectReadable, inspectReference } from '../inspection/inspect-storage.ts'
import { mountTransaction, type ActiveTransaction } from './transaction.ts'
import { unreadProblem, type StorageProblem } from '../problem.ts'

/**
 * Combines several adapters into one. A key names the collections of its adapter: `'application/collection'`,
 * `'application'`, or `'*'` for all others. The most specific key applies. An adapter may have several
 * keys.
 *
 * A transaction begins on an adapter with the first call for one of its collections. Two adapters can't
 * commit atomically: they commit one after the other, in the order of these first calls. If a commit
 * fails, the transaction rejects with its error. The adapters that have not committed yet are undone, the
 * others stay committed. Keep collections that must stay consistent in one adapter. Snapshots of two
 * adapters may also be of different moments.
 */
export function mount(adapters: Readonly<Record<string, StorageAdapter>>): StorageAdapter {
  requirePlainObject('The adapters', adapters, 'mount')
  const mounts = new Mounts(withoutUndefined(adapters))
  const { distinct } = mounts
  const textPages = distinct.some(({ supports }) => supports.textPages)
  return markSelfChecking<StorageAdapter & WithHomes>({
    name: `mount(${distinct.map(({ name }) => name).join(', ')})`,
    supports: {
      textPages,
      durable: distinct.every(({ supports }) => supports.durable),
      generatedNumbers: distinct.every(({ supports }) => supports.generatedNumbers),
      rowLocks: distinct.some(({ supports }) => supports.rowLocks),
      // The rows of two adapters can't be compared in one query.
      conditions: everyCondition.filter((kind) => kind !== 'through' || distinct.length === 1),
    },
    warnings: distinct.flatMap(({ warnings = [] }) => warnings),
    advice: () => distinct.flatMap((each) => each.advice?.() ?? []),
    open: mounts.open,
    connections: () => uniquelyNamed(distinct.flatMap((each) => each.connections?.() ?? [])),
    enforces: mounts.enforces,
    increments: mounts.increments,
    [homeLookup]: mounts.homeByNames,
    tableOf: mounts.tableOf,
    filter: mounts.filter,
    estimateCount: mounts.estimateCount,
    version: mounts.version,
    ...(textPages && {
      filterText: mounts.filterText,
      filterTexts: mounts.filterTexts,
      filterRelated: mounts.filterRelated,
    }),
    inspect: mounts.inspect,
    transaction: mounts.transaction,
    close: mounts.close,
  })
}

// The functions of the port are fields, so that the adapter can have them without a further call.
/** The adapters of a mount, and the collections that each keeps. */
class Mounts {
  /** Each adapter once, in the order of the keys. */
  readonly distinct: readonly StorageAdapter[]
  readonly #byName: ReadonlyMap<string, StorageAdapter>
  readonly #homes = new Map<PublishedCollection, StorageAdapter>()
  readonly #active = new Set<ActiveTransaction>()
  #isClosed = false

  constructor(given: Readonly<Record<string, StorageAdapter>>) {
    const complete = new Map(
      [...new Set(Object.values(given))].map((adapter) => [adapter, completeStorage(adapter)]),
    )
    this.distinct = [...complete.values()]
    this.#byName = new Map(
      Object.entries(given).map(([name, each]) => [name, complete.get(each) as StorageAdapter]),
    )
  }

  readonly open: StorageAdapter['open'] = async (collections, readOnly) => {
    const routes = route(this.#byName, collections)
    for (const [collection, home] of routes) this.#homes.set(collection, home)
    for (const collection of collections) {
      for (const name of throughTargets(collection.definition)) {
        const other = collection.siblings.get(name)
        if (other !== undefined) this.#requireHome(collection, other)
      }
      for (const { collection: name } of collection.related.values()) {
        const other = collection.siblings.get(name)
        if (other !== undefined) this.#requireHome(collection, other, 'A condition')
      }
    }
    for (const adapter of this.distinct) {
      const own = collections.filter((collection) => this.#homes.get(collection) === adapter)
      await adapter.open(own, readOnly)
    }
  }

  readonly increments: Required<StorageAdapter>['increments'] = (collection, field) =>
    this.#homeOf(collection).increments?.(collection, field) === true

  readonly enforces: Required<StorageAdapter>['enforces'] = (reference) => {
    const home = this.#homeOf(reference.from)
    return home === this.#homeOf(reference.to) && home.enforces?.(reference) === true
  }

  /** Returns the adapter of a collection by its names, also before it is opened; undefined if it has none. */
  readonly homeByNames = (collection: PublishedCollection): StorageAdapter | undefined =>
    homeIn(this.#byName, collection)?.[1]

  readonly tableOf: Required<StorageAdapter>['tableOf'] = (collection) => {
    const home = this.#homeOf(collection)
    return `${this.distinct.indexOf(home)} ${tableIn(home, collection)}`
  }

  readonly filter: StorageAdapter['filter'] = (collection, query, context) =>
    this.#homeFor(collection, query.conditions).filter(collection, query, context)

  readonly filterText: Required<StorageAdapter>['filterText'] = (collection, query, context) => {
    const home = this.#homeFor(collection, query.conditions)
    return home.supports.textPages ? home.filterText?.(collection, query, context) : undefined
  }

  readonly filterTexts: Required<StorageAdapter>['filterTexts'] = (
    collection,
    queries,
    context,
  ) => {
    // Their conditions differ in values only.
    const home = this.#homeFor(collection, queries[0]?.conditions ?? [])
    return home.filterTexts?.(collection, queries, context)
  }

  readonly filterRelated: Required<StorageAdapter>['filterRelated'] = (
    collection,
    query,
    relations,
    context,
  ) => {
    const home = this.#homeFor(collection, query.conditions)
    const isOneHome = relations.every(
      (one) => this.#homeFor(one.collection, one.query.conditions) === home,
    )
    return isOneHome ? home.filterRelated?.(collection, query, relations, context) : undefined
  }

  readonly estimateCount: Required<StorageAdapter>['estimateCount'] = (collection, conditions) =>
    this.#homeFor(collection, conditions).estimateCount?.(collection, conditions)

  readonly version: Required<StorageAdapter>['version'] = (collections) => {
    const versions = this.distinct
      .map(
        (adapter) =>
          [adapter, collections.filter((each) => this.#homes.get(each) === adapter)] as const,
      )
      .filter(([, own]) => own.length > 0)
      .map(([adapter, own]) => adapter.version?.(own))
    // JSON keeps the parts apart. Joined with commas, different lists could be equal.
    return versions.includes(undefined) ? undefined : JSON.stringify(versions)
  }

  readonly inspect: Required<StorageAdapter>['inspect'] = async (collections, progress) => {
    const routes = route(this.#byName, collections)
    const problems: StorageProblem[] = []
    for (const adapter of this.distinct) {
      const own = collections.filter((collection) => routes.get(collection) === adapter)
      problems.push(...(await inspectReadable(adapter, own, progress)))
    }
    for (const reference of collections.flatMap(({ references }) => references)) {
      const [from, to] = [routes.get(reference.from), routes.get(reference.to)]
      if (from === undefined || to === undefined || from === to) continue
      const found = inspectReference(from, to, reference).catch((error: unknown) => [
        unreadProblem(reference.from, reasonOf(error), reference),
      ])
      problems.push(...(await found))
    }
    return problems
  }

  readonly transaction: StorageAdapter['transaction'] = async (options, work) => {
    if (this.#isClosed) throw new StorageError('unavailable')
    const homeFor = this.#homeFor
    const active = this.#active
    if (this.distinct.length === 1) return mountTransaction({ homeFor, active, options }, work)
    // Transactions that share a commit on one adapter could wait for each other on another one, and an adapter
    // that commits with its write could not undo it if another one fails to commit.
    const { oneWrite: _oneWrite, ...others } = options
    const apart = { ...others, brief: false }
    return mountTransaction({ homeFor, active, options: apart }, work)
  }

  readonly close: StorageAdapter['close'] = async () => {
    this.#isClosed = true
    const closing = this.distinct.map(async (adapter) => adapter.close())
    const results = await Promise.allSettled(closing)
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  #homeOf(collection: PublishedCollection): StorageAdapter {
    const home = this.#homes.get(collection)
    if (home !== undefined) return home
    throw new TypeError(`The storage was not opened with the collection ${pathOf(collection)}.`)
  }

  /** Returns the adapter of a collection. Throws a TypeError if the conditions read rows of another one. */
  readonly #homeFor = (
    collection: PublishedCollection,
    conditions: readonly Condition[],
  ): StorageAdapter => {
    for (const { collection: other, conditions: further } of throughIn(conditions)) {
      this.#requireHome(collection, other)
      this.#homeFor(other, further)
    }
    return this.#homeOf(collection)
  }

  #requireHome(
    collection: PublishedCollection,
    other: PublishedCollection,
    what = 'The row rule',
  ): void {
    if (this.#homeOf(collection) === this.#homeOf(other)) return
    throw new TypeError(
      `${what} of ${pathOf(collection)} goes through ${other.name}, which is in another storage. Mount both in one.`,
    )
  }
}

function route(
  mounts: ReadonlyMap<string, StorageAdapter>,
  collections: readonly PublishedCollection[],
): ReadonlyMap<PublishedCollection, StorageAdapter> {
  const unused = new Set(mounts.keys())
  // The adapter for all other collections may have none.
  unused.delete('*')
  const routes = new Map<PublishedCollection, StorageAdapter>()
  for (const collection of collections) {
    const found = homeIn(mounts, collection)
    if (found === undefined) {
      throw new TypeError(
        `The collection ${pathOf(collection)} has no storage. Add a mount for it, or '*' for all collections.`,
      )
    }
    const [name, home] = found
    unused.delete(name)
    routes.set(collection, home)
  }
  for (const name of unused) {
    throw new TypeError(`The mount '${name}' matches no collection.`)
  }
  return routes
}

/** Returns the most specific mount of a collection, and its adapter; undefined if it has none. */
function homeIn(
  mounts: ReadonlyMap<string, StorageAdapter>,
  collection: PublishedCollection,
): readonly [name: string, home: StorageAdapter] | undefined {
  for (const name of [pathOf(collection), collection.application, '*']) {
    const home = mounts.get(name)
    if (home !== undefined) return [name, home]
  }
  return undefined
}

function pathOf({ application, name }: PublishedCollection): string {
  return `${application}/${name}`
}
