import type { StoredValue } from '../definition/field-type.ts'
import type { SaveResult } from '../definition/handler.ts'
import type { CollectionShape, Draft } from '../definition/item.ts'
import { acceptedItem } from '../request/accepted.ts'
import { completeItem } from '../request/defaults.ts'
import type { ItemValues } from '../request/query.ts'
import { planInsert, planUpdate } from '../request/plan.ts'
import { rowValues } from '../request/rows.ts'
import { readableValues, type View } from '../request/view.ts'
import { examine, decideSave, openInsert, openUpdate, rejectInvalid } from './save.ts'
import type { Scope } from './scope.ts'

/** New: an item with its defaults, not stored (section 6). */
export async function newItem(view: View, scope: Scope): Promise<Readonly<ItemValues>> {
  const { collection, rows } = view
  const item = await scope.call('default', () =>
    completeItem(collection, rowValues(collection, rows), scope.terms.runtime.now),
  )
  const after = collection.events.New?.after
  if (after === undefined) return readableValues(view, item)
  await scope.call('after', () => after({ ...scope.context(), item }))
  const accepted = await scope.call('after', () => acceptedItem(collection, item))
  return readableValues(view, accepted)
}

/** What a Change is about: values for a new item, or for the item with a key. */
export interface Change {
  readonly view: View
  readonly values: Readonly<ItemValues>
  readonly key: readonly StoredValue[] | undefined
}

/** Change: defaults and validations of the save that these values would make, not stored (section 6). */
export async function changeItem(
  { view, values, key }: Change,
  scope: Scope,
): Promise<SaveResult<Draft<CollectionShape>>> {
  const save =
    key === undefined
      ? await openInsert(planInsert(view, values), scope)
      : await openUpdate(planUpdate(view, key, values), scope)
  const rejected = rejectInvalid(save) ?? (await examine(save, ['validations']))
  if (rejected !== undefined) {
    const { message, validations } = rejected
    return { rejected: true, message, validations }
  }
  const { information } = await decideSave(save)
  return {
    rejected: false,
    item: readableValues(view, save.draft),
    validations: information,
  }
}
