import type { ApplicationDefinitions, CollectionDefinition, Json, SaveResult } from 'rowgate'
import { RequestError, type Client, type ClientCollection } from 'rowgate/client'

/** An item whose fields are not typed. */
export type Item = Readonly<Record<string, Json>>

type Collection = ClientCollection<CollectionDefinition>
type Key = Parameters<Collection['get']>[0]
/** The result of a rejected save. */
export type Rejected = Extract<SaveResult<Item>, { readonly rejected: true }>

/** What both data providers need. */
export interface ProviderOptions {
  readonly client: Client<ApplicationDefinitions>
  readonly application: string
  /** The fields of the key of each collection. */
  readonly keys: Readonly<Record<string, readonly string[]>>
  /** The collections whose definition lets clients list keys: `operators: { orderId: ['in'] }`. Default: none. */
  readonly listed?: readonly string[]
  /** Asks the user whether to save although there are warnings. */
  readonly confirm: (warnings: readonly string[]) => Promise<boolean>
  /** Shows the user that another one has changed the item, and asks whether to save nevertheless. */
  readonly overwrite: (conflict: Conflict) => Promise<boolean>
}

/** An item that another user has changed since it was read. */
export interface Conflict {
  /** The values that the user wants to save; empty for a delete. */
  readonly mine: Item
  /** The item as it is now. */
  readonly theirs: Item
}

type SaveError = (result: Rejected) => Error

/** Returns a function that opens resources. They remember the versions of the items that were read. */
export function openResources(options: ProviderOptions) {
  const tags = new Map<string, string>()
  return (name: string) => openResource(options, name, tags)
}

// A list has as many values at most.
const maxListed = 100

/** The collection of a resource, whose items have an `id`: the key, with commas in a composite one. */
function openResource(options: ProviderOptions, name: string, tags: Map<string, string>) {
  const collection: Collection = options.client.collection(options.application, name)
  const keyNames = options.keys[name] ?? ['id']
  const keyOf = (id: string | number): Key =>
    (keyNames.length === 1 ? id : String(id).split(',')) as Key

  /** Returns the item of a save. Warnings are confirmed by the user; `rejected` makes an error of findings. */
  async function saved(
    call: ReturnType<Collection['update']>,
    rejected: SaveError,
  ): Promise<{ readonly data: never }> {
    let result = await call
    while (result?.rejected === true) {
      const warnings = result.validations.filter(({ severity }) => severity !== 'information')
      const messages = warnings.map(({ message }) => message)
      const isConfirmed =
        warnings.every(({ severity }) => severity === 'warning') &&
        (await options.confirm(messages))
      if (!isConfirmed) throw rejected(result)
      result = await collection.confirm(result)
    }
    return { data: versionOf(result?.item, result?.etag) }
  }

  /** Changes or deletes the version of an item that was read. If there is a newer one, the user decides. */
  async function change(
    id: string | number,
    mine: Item,
    call: (key: Key, version: { readonly ifMatch?: string }) => Promise<{ readonly data: never }>,
  ): Promise<{ readonly data: never }> {
    for (;;) {
      const ifMatch = tags.get(tagName(id))
      try {
        return await call(keyOf(id), ifMatch === undefined ? {} : { ifMatch })
      } catch (error) {
        if (!(error instanceof RequestError && error.code.startsWith('PRECONDITION_'))) throw error
        const theirs = await read(id)
        if (!(await options.overwrite({ mine, theirs }))) throw error
      }
    }
  }

  /** Returns the items that exist, in the order of their ids: in one request for 100 of them, if the collection lists keys. */
  async function readMany(ids: readonly (string | number)[]): Promise<{ readonly data: never[] }> {
    const [key = ''] = keyNames
    if (keyNames.length > 1 || options.listed?.includes(name) !== true) {
      const items = await Promise.all(ids.map((id) => collection.get(keyOf(id))))
      return { data: items.filter((item) => item !== undefined).map(recordOf) }
    }
    const parts = Array.from({ length: Math.ceil(ids.length / maxListed) }, (_, index) =>
      ids.slice(index * maxListed, (index + 1) * maxListed),
    )
    const pages = await Promise.all(
      parts.map((part) =>
        collection.filter({ [key]: { in: part } } as never, { limit: part.length, count: true }),
      ),
    )
    const found = new Map(
      pages.flatMap(({ items }) => items.map((item) => [String(idOf(item)), item])),
    )
    return {
      data: ids
        .map((id) => found.get(String(id)))
        .filter((item) => item !== undefined)
        .map(recordOf),
    }
  }

  async function read(id: string | number, signal?: AbortSignal): Promise<never> {
    const found = await collection.getTagged(keyOf(id), signal && { signal })
    return versionOf(found?.item, found?.etag)
  }

  /** Returns an item with its `id`. Throws for undefined. */
  function recordOf(item: Item | undefined): never {
    if (item === undefined) throw new Error('The item does not exist.')
    return { ...item, id: idOf(item) } as never
  }

  /** Returns an item with its `id`, and remembers its version. */
  function versionOf(item: Item | undefined, etag: string | undefined): never {
    if (item !== undefined && etag !== undefined) tags.set(tagName(String(idOf(item))), etag)
    return recordOf(item)
  }

  function idOf(item: Item): Json | undefined {
    const parts = keyNames.map((part) => item[part])
    return parts.length === 1 ? parts[0] : parts.join(',')
  }

  function tagName(id: string | number): string {
    return `${name}/${id}`
  }

  return {
    collection,
    keyOf,
    read,
    readMany,
    recordOf,
    saved,
    update: (id: string | number, values: Item, rejected: SaveError) =>
      change(id, values, (key, version) =>
        saved(collection.update(key, values, version), rejected),
      ),
    remove: (id: string | number, rejected: SaveError) =>
      change(id, {}, (key, version) => saved(collection.delete(key, version), rejected)),
    /** Returns values without an `id` that is not a field, and those that are the same as before. */
    changesOf: (values: Item, before: Item = {}): Item =>
      Object.fromEntries(
        Object.entries(values).filter(
          ([field, value]) =>
            (field !== 'id' || keyNames.includes('id')) &&
            JSON.stringify(value) !== JSON.stringify(before[field]),
        ),
      ),
    /** Returns a sort; by `id` is by the key. */
    sortOf: (field: string, isDescending: boolean): readonly string[] =>
      (field === 'id' ? keyNames : [field]).map((one) => (isDescending ? `-${one}` : one)),
  }
}
