import type { CollectionShape, Item } from '../../definition/item.ts'
import type {
  DeleteCall,
  GetCall,
  InsertCall,
  Serve,
  ServingContext,
  UpdateCall,
} from '../../definition/serve.ts'
import { withoutUndefined } from '../../checks/options.ts'
import { CallError, isCallError } from '../call-error.ts'
import { valueAt } from '../json-path.ts'
import { completeMapping, type CompleteItem, type Mapping } from './complete-options.ts'
import { isMissing, readError, writeError } from './failure.ts'
import {
  insertedValues,
  itemFrom,
  keyInput,
  objectFor,
  updatedValues,
  type MappedItem,
} from './item-mapping.ts'
import type { InputMembers, RestCollectionOptions } from './options.ts'
import { readList } from './read-list.ts'
import { hasKey, itemInput, saveInput, statedInput } from './stated-input.ts'

type Shape = CollectionShape

/**
 * Returns the functions that serve a collection from another service. `definition` is the data of the
 * collection: its fields and its key. Conditions, searches, orders and counts that the other service can't
 * evaluate are evaluated here, within a limit. Throws a TypeError that lists every mistake.
 */
export function restCollection<const C extends CollectionShape>(
  definition: C,
  options: RestCollectionOptions<NoInfer<C>>,
): Serve<C> {
  const mapping = completeMapping(definition, options)
  const { list, get, insert, update, delete: remove, timeout } = mapping
  const serve = withoutUndefined<{
    readonly [Name in keyof Serve<Shape>]: Serve<Shape>[Name] | undefined
  }>({
    filter: list && ((call) => readList(mapping, list, call)),
    get: get && ((call) => readItem(mapping, get, call)),
    insert: insert && ((call) => insertItem(mapping, insert, call)),
    update: update && ((call) => updateItem(mapping, update, call)),
    delete: remove && ((call) => deleteItem(mapping, remove, call)),
    timeout,
  })
  return serve as unknown as Serve<C>
}

async function readItem(
  mapping: Mapping,
  get: CompleteItem,
  call: Pick<GetCall<Shape>, 'key' | 'fields'> & ServingContext,
): Promise<Item<Shape> | undefined> {
  const { endpoint, item: path } = get
  const input = itemInput(mapping, get, { stated: statedInput(mapping, call), key: call.key })
  if (input === undefined) return undefined
  try {
    const { body } = await endpoint.call(input, { signal: call.signal })
    const source = valueAt(body, path)
    if (source === null || source === undefined) return undefined
    const item = itemFrom(mapping, endpoint, source, call.fields)
    // The stated tenant may have an item with the rest of the key.
    return mapping.input === undefined || hasKey(mapping, item, call.key) ? item : undefined
  } catch (error) {
    // A key that can't be in a path is the key of no item.
    if (isMissing(error) || (isCallError(error) && error.code === 'INVALID_INPUT')) return undefined
    throw readError(error)
  }
}

async function insertItem(
  mapping: Mapping,
  insert: CompleteItem,
  call: InsertCall<Shape>,
): Promise<Item<Shape>> {
  const item = call.item as MappedItem
  try {
    const values = insertedValues(item)
    const given = { item, changes: values }
    const body = insert.body === undefined ? objectFor(mapping, values) : insert.body(given)
    const key = mapping.key.map((name) => item[name])
    const sent = { ...keyInput(mapping, insert, key), body }
    const stated = statedInput(mapping, call)
    const input = saveInput(mapping, insert, { stated, sent, values })
    return await save(mapping, insert, { call, input, item })
  } catch (error) {
    throw writeError(error, 'insert', insert, call)
  }
}

async function updateItem(
  mapping: Mapping,
  update: CompleteItem,
  call: UpdateCall<Shape>,
): Promise<Item<Shape> | undefined> {
  const given = { item: call.item as MappedItem, changes: call.changes as MappedItem }
  try {
    const body =
      update.body === undefined
        ? objectFor(mapping, updatedValues(mapping, update, given))
        : update.body(given)
    const stated = statedInput(mapping, call)
    const key = itemInput(mapping, update, { stated, key: call.key })
    if (key === undefined) return undefined
    const sent = { ...key, body }
    const input = saveInput(mapping, update, { stated, sent, values: given.changes })
    return await save(mapping, update, { call, input, item: given.item })
  } catch (error) {
    const failure = writeError(error, 'update', update, call)
    if (failure === undefined) return undefined
    throw failure as Error
  }
}

async function deleteItem(
  mapping: Mapping,
  remove: CompleteItem,
  call: DeleteCall<Shape>,
): Promise<boolean> {
  try {
    const input = itemInput(mapping, remove, { stated: statedInput(mapping, call), key: call.key })
    if (input === undefined) return false
    await remove.endpoint.call(input, { signal: call.signal })
    return true
  } catch (error) {
    const failure = writeError(error, 'delete', remove, call)
    if (failure === undefined) return false
    throw failure as Error
  }
}

interface Save {
  readonly call: ServingContext
  readonly input: InputMembers
  /** The item as it was sent. */
  readonly item: MappedItem
}

/** Sends an item and returns what the other service has stored. */
async function save(
  mapping: Mapping,
  { endpoint, item: path }: CompleteItem,
  { call, input, item }: Save,
): Promise<Item<Shape>> {
  const { signal } = call
  const { body } = await endpoint.call(input, { signal })
  const names = Object.keys(mapping.definition.fields)
  const source = valueAt(body, path)
  if (source !== null && source !== undefined) return itemFrom(mapping, endpoint, source, names)
  const fail = (detail: string): CallError =>
    new CallError('INVALID_RESPONSE', endpoint.name, { detail })
  const key = mapping.key.map((name) => item[name] ?? null)
  if (key.includes(null)) throw fail('the response does not contain the saved item')
  if (mapping.get === undefined) return item
  const stored = await readItem(mapping, mapping.get, { ...call, key, fields: names })
  if (stored === undefined) throw fail('the saved item does not exist')
  return stored
}
