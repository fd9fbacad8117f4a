import type { CrudFilter, DataProvider, HttpError } from '@refinedev/core'
import { openResources, type Item, type ProviderOptions, type Rejected } from './resource.ts'

/** A data provider of refine. A resource is a collection of the application. */
export function refineDataProvider(options: ProviderOptions, url: string): DataProvider {
  const open = openResources(options)

  return {
    getApiUrl: () => url,
    getList: async ({ resource, pagination, sorters = [], filters = [], meta }) => {
      const { collection, recordOf, sortOf } = open(resource)
      const { currentPage = 1, pageSize = 10, mode = 'server' } = pagination ?? {}
      const { q, ...conditions } = conditionsOf(filters)
      const signal = meta?.queryContext?.signal
      const { items, count } = await collection.filter(conditions as never, {
        count: true,
        ...(mode === 'server' && { limit: pageSize, offset: (currentPage - 1) * pageSize }),
        sort: sorters.flatMap(({ field, order }) => sortOf(field, order === 'desc')),
        ...(typeof q === 'string' && { q }),
        ...(signal !== undefined && { signal }),
      })
      return { data: items.map(recordOf), total: count ?? 0 }
    },
    getOne: async ({ resource, id }) => ({ data: await open(resource).read(id) }),
    getMany: async ({ resource, ids }) => {
      const { collection, keyOf, recordOf } = open(resource)
      const items = await Promise.all(ids.map((id) => collection.get(keyOf(id))))
      return { data: items.filter((item) => item !== undefined).map(recordOf) }
    },
    create: ({ resource, variables }) => {
      const { collection, changesOf, saved } = open(resource)
      return saved(collection.insert(changesOf(variables as Item)), rejectedBy)
    },
    update: ({ resource, id, variables }) => {
      const { changesOf, update } = open(resource)
      return update(id, changesOf(variables as Item), rejectedBy)
    },
    deleteOne: ({ resource, id }) => open(resource).remove(id, rejectedBy),
  }
}

/** Returns the conditions of filters. `q` searches; the other filters must be equality. */
function conditionsOf(filters: readonly CrudFilter[]): Item {
  const conditions = filters
    .filter(({ value }) => value !== undefined && value !== '')
    .map((filter) => {
      if ('field' in filter && filter.operator === 'eq')
        return [filter.field, filter.value as unknown]
      if ('field' in filter && filter.field === 'q') return ['q', filter.value as unknown]
      throw new Error(`The service has no filter ${filter.operator}; use eq.`)
    })
  return Object.fromEntries(conditions) as Item
}

/** Returns the error that forms of refine show beside their fields. */
function rejectedBy({ message, validations }: Rejected): Error {
  const errors: Record<string, string> = {}
  for (const entry of validations) errors[entry.field ?? 'root'] = entry.message
  return Object.assign(new Error(message), { statusCode: 400, errors } satisfies Partial<HttpError>)
}
