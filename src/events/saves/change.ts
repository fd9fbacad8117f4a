import type { StoredValue } from '../../definition/field-type.ts'
import type { SaveResult } from '../../definition/handler.ts'
import type { CollectionShape, Draft } from '../../definition/item.ts'
import { entriesIn } from '../../protocol/envelope.ts'
import { acceptedRow, completeRow } from '../../request/item-values.ts'
import type { ItemValues } from '../../request/query.ts'
import { planInsert, planUpdate } from '../../request/plan.ts'
import { rowValues } from '../../request/rows.ts'
import { itemOf } from '../../request/serialize.ts'
import { readableItem, type View } from '../../request/view.ts'
import { rejectedResult } from './results.ts'
import { previewSave } from './save.ts'
import { insertSteps, updateSteps } from './steps.ts'
import type { Scope } from '../scope.ts'

/** Runs a New: returns an item with its defaults, which is not stored. */
export async function newItem(view: View, scope: Scope): Promise<Readonly<ItemValues>> {
  const { collection, rows } = view
  const row = await scope.call('default', () =>
    completeRow(collection, rowValues(rows), scope.unit.runtime.now),
  )
  const after = collection.events.New?.after
  if (after === undefined) return readableItem(view, row)
  const item = itemOf(collection, row)
  await scope.call('after', () => after({ item, ...scope.context() }))
  const accepted = await scope.call('after', () => acceptedRow(collection, item))
  return readableItem(view, accepted)
}

/** What a Change is about: values for a new item, or for the item with a key. */
export interface Change {
  readonly view: View
  readonly values: Readonly<ItemValues>
  readonly key: readonly StoredValue[] | undefined
}

/** Runs a Change: the defaults and validations of the save that these values would make. Stores nothing. */
export async function changeItem(
  { view, values, key }: Change,
  scope: Scope,
): Promise<SaveResult<Draft<CollectionShape>>> {
  const save =
    key === undefined
      ? await previewSave(insertSteps, planInsert(view, values), scope)
      : await previewSave(updateSteps, planUpdate(view, key, values), scope)
  const { language } = scope.caller
  if ('type' in save) return rejectedResult(save, language)
  const item = readableItem(view, save.draft ?? {})
  return { rejected: false, item, validations: entriesIn(save.information, language) }
}
