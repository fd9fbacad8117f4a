import type { CollectionAccess } from '../../definition/handler.ts'
import type { CollectionShape } from '../../definition/item.ts'
import { saveInSequence, type SavedOfMany } from '../../events/saves/in-sequence.ts'
import { itemError, keyText, type PreparedItem } from './prepare-items.ts'
import { RuleError } from './rule-error.ts'
import { isSame, keyOf, resultOf, writeItem, writtenItem, type RuleResult } from './write-items.ts'

// Conditions on a composite key become a long statement.
const maxKeys = { plain: 500, composite: 50 }

type Collection = CollectionAccess<CollectionShape>

/**
 * Inserts or updates the items of one rule, in their order. Storage reads and writes several at a time if the collection allows
 * it. The outcome is that of one item after the other. Throws a RuleError for the first item that is rejected.
 */
export async function writeItems(
  items: readonly PreparedItem[],
  collection: Collection,
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = []
  for (const some of parts(items)) {
    const isPlain = some[0]?.rule.warnings === 'reject' && saveInSequence(collection) !== undefined
    if (isPlain && some.length > 1) results.push(...(await writeTogether(some, collection)))
    else for (const item of some) results.push(await named(item, () => writeItem(item, collection)))
  }
  return results
}

/** Runs work of one item, and names the item in its errors. */
export async function named<Result>(
  item: PreparedItem,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof RuleError) throw cause
    throw itemError(item, 'the item was not stored', { cause })
  }
}

/** Returns the items in parts whose stored items are read at a time. */
function* parts(items: readonly PreparedItem[]): Iterable<readonly PreparedItem[]> {
  const isComposite = (items[0]?.rule.upsertBy?.length ?? 1) > 1
  const size = isComposite ? maxKeys.composite : maxKeys.plain
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

/** An item, with its key and its stored values if it has been stored before. */
interface FoundItem {
  readonly item: PreparedItem
  readonly key: unknown
  readonly stored: Values | undefined
}

type Values = Readonly<Record<string, unknown>>

async function writeTogether(
  items: readonly PreparedItem[],
  collection: Collection,
): Promise<readonly RuleResult[]> {
  const found = await findTogether(items, collection)
  const changed = found.filter(({ item, stored }) => stored === undefined || !isSame(item, stored))
  const saves = changed.map(({ item, key, stored }) => ({
    values: item.values,
    key: stored === undefined ? undefined : key,
  }))
  const outcomes = (await saveInSequence(collection)?.(saves)) ?? []
  const places = new Map(changed.map(({ item }, index) => [item, index]))
  const results: RuleResult[] = []
  for (const { item, key, stored } of found) {
    const place = places.get(item)
    if (place === undefined) results.push(resultOf(item, 'unchanged', []))
    else
      results.push(
        await named(item, () => {
          const outcome = outcomes[place]
          // Not begun after one that was rejected, and has become an update.
          if (outcome === undefined) return writeItem(item, collection)
          const action = stored === undefined ? 'insert' : 'update'
          return writtenItem({ item, action, key, saved: savedOf(outcome) }, collection)
        }),
      )
  }
  return results
}

function savedOf(outcome: PromiseSettledResult<SavedOfMany>): SavedOfMany {
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

/** Finds the stored items of several by their keys: in one page, or if that can't be read, one after the other. */
async function findTogether(
  items: readonly PreparedItem[],
  collection: Collection,
): Promise<readonly FoundItem[]> {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }))
  const known = keyed.filter(({ key }) => key !== undefined)
  const page =
    known.length === 0 ? new Map<string, Values>() : await readTogether(known, collection)
  const found: FoundItem[] = []
  for (const { item, key } of keyed) {
    const read = (): Promise<Values | undefined> =>
      named(item, async () => collection.get(key as never))
    const stored =
      key === undefined ? undefined : page === undefined ? await read() : page.get(textOf(item))
    found.push({ item, key, stored })
  }
  return found
}

/** Reads the stored items by the text of their keys. Undefined if they can't be found in one page. */
async function readTogether(
  keyed: readonly Pick<FoundItem, 'item' | 'key'>[],
  collection: Collection,
): Promise<ReadonlyMap<string, Values> | undefined> {
  const [{ item: first }] = keyed as readonly [FoundItem]
  const names = first.rule.upsertBy ?? []
  const [name = ''] = names
  const conditions =
    names.length === 1
      ? { [name]: { in: keyed.map(({ key }) => key) } }
      : {
          or: keyed.map(({ item }) =>
            Object.fromEntries(names.map((one) => [one, item.values[one]])),
          ),
        }
  let page: readonly Values[]
  try {
    page = (await collection.filter(conditions as never)).items
  } catch {
    // For instance because its key is no field to filter by. The error of one item names it.
    return undefined
  }
  const wanted = new Set(keyed.map(({ item }) => textOf(item)))
  const byKey = new Map(page.map((values) => [keyText(first.rule.into, names, values), values]))
  // Storage may compare strings in another way.
  return [...byKey.keys()].every((key) => wanted.has(key)) ? byKey : undefined
}

function textOf({ rule: { into, upsertBy = [] }, values }: Pick<PreparedItem, 'rule' | 'values'>) {
  return keyText(into, upsertBy, values)
}
