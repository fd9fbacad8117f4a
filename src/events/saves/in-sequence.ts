import type { SaveResult } from '../../definition/handler.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { CollectionShape, Item } from '../../definition/item.ts'
import type { SaveEvent } from './stage.ts'

/**
 * Runs saves of one transaction in their order: each begins when the one before has ended, or waits only for storage to
 * write its item. Storage then receives several writes together. Begins no more of them after one for which `ends` returns
 * true, or that rejects. Resolves when all that have begun have ended.
 */
export async function inSequence<Result>(
  saves: Iterable<(whileWriting: () => void) => Promise<Result>>,
  ends: (result: Result) => boolean = () => false,
): Promise<readonly PromiseSettledResult<Result>[]> {
  const begun: Promise<Result>[] = []
  let hasEnded = false as boolean
  for (const save of saves) {
    if (hasEnded) break
    await new Promise<void>((next) => {
      const result = save(next)
      begun.push(result)
      result
        .then(ends)
        .catch(() => true)
        .then((isLast) => {
          hasEnded ||= isLast
          next()
        }, next)
    })
  }
  return Promise.allSettled(begun)
}

/**
 * Returns whether a save may begin while the one before waits for its write. An `after` handler needs the item before. If
 * items refer to each other, the one that the rejection of a save names as missing may have been written since.
 */
export function canOverlap(collection: PublishedCollection, type: SaveEvent['type']): boolean {
  const { events, references, table } = collection
  const refersToOwn = references.some(({ to }) => to.table === table)
  return type !== 'Delete' && events[type]?.after === undefined && !refersToOwn
}

/** A save of several: an Insert, or with a key an Update. */
export interface SaveOfMany {
  readonly key: unknown
  readonly values: Readonly<Record<string, unknown>>
}

/** The outcome of a save; undefined for an Update of an item that does not exist. */
export type SavedOfMany = SaveResult<Item<CollectionShape>> | undefined

const saving: unique symbol = Symbol.for('rowgate.saveInSequence')

/** The member of a collection in a transaction by which {@link saveInSequence} saves. */
export interface SavingInSequence {
  readonly [saving]?:
    | ((saves: readonly SaveOfMany[]) => Promise<readonly PromiseSettledResult<SavedOfMany>[]>)
    | undefined
}

/** Returns the member that makes a collection usable for {@link saveInSequence}. */
export function savingInSequence(
  save: Required<SavingInSequence>[typeof saving],
): SavingInSequence {
  return { [saving]: save }
}

/**
 * Returns a function that runs Inserts and Updates of a collection in their order, as `insert` and `update` do, and returns
 * their outcomes, in their order, at least up to the first that is rejected or fails. Undefined if they must be run one by
 * one: outside of a transaction, and if a handler could read or change other items between two of them.
 */
export function saveInSequence(collection: object): SavingInSequence[typeof saving] {
  return (collection as SavingInSequence)[saving]
}

/**
 * When items that are replaced are deleted. `first`: before others are written, which may have their unique values.
 * `repeated`: after it, and those to which others refer again when these are deleted. `once`: after it, because handlers
 * run with each delete.
 */
export type DeleteTime = 'first' | 'repeated' | 'once'

const deleteTime: unique symbol = Symbol.for('rowgate.deleteTime')

interface TimedDeletes {
  // Every member of a collection is an asynchronous function.
  readonly [deleteTime]?: () => Promise<DeleteTime>
}

/** Returns the member of a collection that {@link deleteTimeOf} reads. */
export function timedDeletes({ events, references, table }: PublishedCollection): object {
  const { before, after } = events.Delete ?? {}
  const isCalled = before !== undefined || after !== undefined
  const refersToOwn = references.some(({ to }) => to.table === table)
  // A delete can delete or change what is about to be written, if items refer to each other.
  const time = isCalled ? 'once' : refersToOwn ? 'repeated' : 'first'
  return { [deleteTime]: () => Promise.resolve(time) } satisfies TimedDeletes
}

/** Returns when replaced items of a collection are deleted. */
export async function deleteTimeOf(collection: object): Promise<DeleteTime> {
  return (await (collection as TimedDeletes)[deleteTime]?.()) ?? 'once'
}
