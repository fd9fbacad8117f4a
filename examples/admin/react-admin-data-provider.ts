import { HttpError, type DataProvider } from 'ra-core'
import { openResources, type Item, type ProviderOptions, type Rejected } from './resource.ts'

/**
 * A data provider of react-admin. A resource is a collection of the application. Filters with operators are inputs with a
 * source such as `quantity.gte`.
 */
export function reactAdminDataProvider(options: ProviderOptions): DataProvider {
  const open = openResources(options)

  const provider: DataProvider = {
    supportAbortSignal: true,
    getList: async (resource, { pagination, sort, filter, signal }) => {
      const { collection, recordOf, sortOf } = open(resource)
      const { page = 1, perPage = 10 } = pagination ?? {}
      const { q, ...conditions } = { ...(filter as Item) }
      const { items, count } = await collection.filter(conditions as never, {
        limit: perPage,
        offset: (page - 1) * perPage,
        count: true,
        ...(sort !== undefined && { sort: sortOf(sort.field, sort.order === 'DESC') }),
        ...(typeof q === 'string' && { q }),
        ...(signal !== undefined && { signal }),
      })
      return { data: items.map(recordOf), total: count ?? 0 }
    },
    getManyReference: (resource, { target, id, filter, ...rest }) =>
      provider.getList(resource, { ...rest, filter: { ...(filter as Item), [target]: id } }),
    getOne: async (resource, { id, signal }) => {
      return { data: await open(resource).read(id as string, signal) }
    },
    getMany: (resource, { ids }) => open(resource).readMany(ids as readonly string[]),
    create: (resource, { data }) => {
      const { collection, changesOf, saved } = open(resource)
      return saved(collection.insert(changesOf(data as Item)), rejectedBy)
    },
    update: (resource, { id, data, previousData }) => {
      const { changesOf, update } = open(resource)
      return update(id as string, changesOf(data as Item, previousData as Item), rejectedBy)
    },
    delete: (resource, { id }) => open(resource).remove(id as string, rejectedBy),
    updateMany: async (resource, { ids, data }) => {
      for (const id of ids) await provider.update(resource, { id, data, previousData: { id } })
      return { data: ids }
    },
    deleteMany: async (resource, { ids }) => {
      for (const id of ids) await provider.delete(resource, { id })
      return { data: ids }
    },
  }
  return provider
}

/** Returns the error that forms of react-admin show beside their fields. */
function rejectedBy({ message, validations }: Rejected): HttpError {
  const errors = validations.map(({ field = 'root', message: text }) => [field, text])
  return new HttpError(message, 400, { errors: Object.fromEntries(errors) as Item })
}
