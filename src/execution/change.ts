import type { StoredValue } from '../definition/field-type.ts'
import type { SaveResult } from '../definition/handler.ts'
import type { CollectionShape, Draft } from '../definition/item.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { acceptedItem } from '../event/accepted.ts'
import { completeItem } from '../event/defaults.ts'
import type { ItemValues } from '../event/event.ts'
import { planInsert, planUpdate } from '../event/plan.ts'
import type { Terms } from './runtime.ts'
import { examine, judgeSave, openInsert, openUpdate, refuseFaults } from './save.ts'
import { openScope } from './scope.ts'

/** New: an item with its defaults, not stored (section 6). */
export async function newItem(collection: PublishedCollection, terms: Terms): Promise<ItemValues> {
  const scope = openScope(terms, { collection, event: 'New' })
  const item = await scope.call('default', () => completeItem(collection, {}, terms.runtime.now))
  const after = collection.events.New?.after
  if (after === undefined) return item
  await scope.call('after', () => after({ ...scope.context(), item }))
  return scope.call('after', () => acceptedItem(collection, item))
}

/** What a Change is about: values for a new item, or for the item with a key. */
export interface Change {
  readonly collection: PublishedCollection
  readonly values: Readonly<ItemValues>
  readonly key: readonly StoredValue[] | undefined
}

/** Change: defaults and validations of the save that these values would make, not stored (section 6). */
export async function changeItem(
  { collection, values, key }: Change,
  terms: Terms,
): Promise<SaveResult<Draft<CollectionShape>>> {
  const save =
    key === undefined
      ? await openInsert(planInsert(collection, values), terms)
      : await openUpdate(planUpdate(collection, key, values), terms)
  const refusal = refuseFaults(save) ?? (await examine(save, terms, ['validations']))
  if (refusal !== undefined) {
    const { message, validations } = refusal
    return { rejected: true, message, validations }
  }
  const { information } = await judgeSave(save, terms)
  return { rejected: false, item: save.draft, validations: information }
}
