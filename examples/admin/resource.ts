import type { ApplicationDefinitions, CollectionDefinition, Json, SaveResult } from 'rowgate'
import type { Client, ClientCollection } from 'rowgate/client'

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
  /** Asks the user whether to save although there are warnings. */
  readonly confirm: (warnings: readonly string[]) => Promise<boolean>
}

/** The collection of a resource, whose items have an `id`: the key, with commas in a composite one. */
export function openResource(options: ProviderOptions, name: string) {
  const collection: Collection = options.client.collection(options.application, name)
  const keyNames = options.keys[name] ?? ['id']

  /** Returns the item of a save. Warnings are confirmed by the user; `rejected` makes an error of findings. */
  async function saved(
    call: ReturnType<Collection['update']>,
    rejected: (result: Rejected) => Error,
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
    return { data: recordOf(result?.item) }
  }

  /** Returns an item with its `id`. Throws for undefined. */
  function recordOf(item: Item | undefined): never {
    if (item === undefined) throw new Error('The item does not exist.')
    const parts = keyNames.map((part) => item[part])
    return { ...item, id: parts.length === 1 ? parts[0] : parts.join(',') } as never
  }

  return {
    collection,
    recordOf,
    saved,
    keyOf: (id: string | number) => (keyNames.length === 1 ? id : String(id).split(',')) as Key,
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
